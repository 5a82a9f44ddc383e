"""Rows of broken.py about answers, the web configuration, fetching and forwarding."""

# name: (file, old text, new text, test: unit:NAME of build/check, or FILE[:NAME] of tests/e2e)
ROWS = {
    "a server stays root": (
        "exporter/lifecycle/switch_user.c", "setresuid(a->uid, a->uid, a->uid) == 0)", "setresuid(0, 0, 0) == 0)",
        "test_privileges.py:Privileges.test_root_goes_on_as_another_user_with_what_looking_takes"),
    "the limits of others may be set": (
        "exporter/lifecycle/seccomp.c", "	UNLESS_SKIP(SYS_prlimit64, 4),", "	UNLESS_SKIP(SYS_prlimit64 + 4096, 4),",
        "test_privileges.py:Privileges.test_what_a_server_never_does_is_refused_to_the_server_itself"),
    "others may read what a server makes": (
        "exporter/lifecycle/privileges.c", "	umask(umask(S_IRWXO) | S_IRWXO);\n", "",
        "test_history.py:Modes.test_of_a_server_s_files_leave_others_no_right"),
    "nobody is hung up on": (
        "exporter/http/connections.c", "	if (c->n > c->max && one)", "	if (c->n > c->max && one && !c->max)",
        "test_faults_http.py:Crowd.test_idle_connections_above_the_limit_keep_no_scraper_out"),
    "who is being answered is never hung up on": (
        "exporter/http/connections.c", "TAILQ_FIRST(TAILQ_EMPTY(&c->idle) ? &c->busy : &c->idle)", "TAILQ_FIRST(&c->idle)",
        "test_faults_http.py:Crowd.test_who_asks_for_ever_and_never_reads_keeps_no_scraper_out"),
    "answers without bound": (
        "exporter/http/connections.c", "	if (one && one != requesting)", "	if (one && one == requesting)",
        "test_faults_http.py:Crowd.test_answers_that_nobody_reads_are_bounded"),
    "a memory limit is nothing to go by": (
        "exporter/core/memory_budget.c", "	of_addresses = limit == addresses;", "	return;\n	of_addresses = limit == addresses;",
        "test_faults_memory.py:Full.test_shipped_limits_are_kept"),
    "what malloc gave out is not looked at": (
        "exporter/core/memory_budget.c", "	if (heap == SIZE_MAX)\n		return false;", "	if (heap)\n		return false;",
        "test_faults_memory.py:Full.test_shipped_limits_are_kept"),
    "a list grows on once it was given up": (
        "exporter/core/json.c", "memory_budget_gave_up() ||", "", "unit:memory_budget"),
    "the phases of a run by what one pass has": (
        "exporter/answers/series_passes.c", "&ret->position, 0, phases_columns, &pass,", "&ret->position, 9, phases_columns, &pass,",
        "unit:series_passes"),
    "all open files for connections": (
        "exporter/http/http.c", "		most = l.rlim_cur / 2;", "		most = l.rlim_cur;",
        "test_faults_http.py:Crowd.test_few_open_files_are_shared_with_what_reads_processes"),
    "streams begin where scrapes are answered": (
        "exporter/site/site.c", "page && page->about->takes_long ?", "page && !page->answer ?",
        "test_faults_history.py:Stalled.test_questions_that_read_it_hold_up_neither_scrapes_nor_the_end"),
    "two lengths are one": (
        "exporter/http/framing.c", "		twice |= f->times[i] > 1;", "		twice |= f->times[i] > 100;",
        "test_attackers.py:Smuggled.test_what_is_ambiguous_is_refused_and_ends_the_connection"),
    "a body is waited for however long": (
        "exporter/http/http.c", "exchange_length(x) > BODY_READ_MAX", "exchange_length(x) == 1",
        "test_attackers.py:Smuggled.test_a_body_that_is_announced_too_long_is_not_waited_for"),
    "bodies without bound": (
        "exporter/http/exchange.c", "+ more <= memory_budget()->changes", "+ more <= 100 * memory_budget()->changes", "unit:http_entry"),
    "bodies of strangers": (
        "exporter/http/http.c", "	return x->keeps_body ? let_in", "	return x->keeps_body && !refused ? let_in", "unit:http_entry"),
    "any name is ours": (
        "exporter/site/host_header.c", "	return is_address(host) || ", "	return !is_address(host) || ",
        "test_attackers.py:ReboundNames.test_nothing_is_read_by_a_name_that_is_not_ours"),
    "long answers without bound": (
        "exporter/http/slow_queue.c", "q->bytes < q->most_bytes", "q->bytes < SIZE_MAX / 2",
        "test_attackers.py:LongAnswers.test_clients_that_do_not_read_them_fill_no_memory"),
    "everybody may change": (
        "exporter/site/change.c", "	if (!r->user && !o->allow_changes)\n", "	if (!r->user && !o->allow_changes && !o)\n", "unit:site_change"),
    "nobody but users may change, who are none": (
        "exporter/http/http.c", "	r.user = is_of_user(x, config);", "	r.user = !is_of_user(x, config);",
        "test_web_users.py:WebUsers.test_users_may_change_something_and_no_page_of_theirs"),
    "whoever has a certificate that the system trusts may change": (
        "exporter/http/http.c", "(c->client_ca.text || c->client_ca.file || c->sans)", "(c->client_ca.text || !c->client_ca.text)",
        "test_web_config.py:WebConfig.test_a_certificate_of_whoever_the_system_trusts_is_no_user"),
    "files of another name are given away": (
        "exporter/lifecycle/switch_user.c", " || !S_ISREG(st.st_mode) || st.st_nlink != 1)", ")",
        "test_privileges.py:Privileges.test_only_files_of_no_other_name_are_given_away"),
    "a value goes on in the next line": (
        "exporter/http/framing.c", "		f->odd |= is_glued_to(name, single[i]);", "		(void)is_glued_to;", "test_attackers.py:Smuggled"),
    "chunks of HTTP/1.0": (
        "exporter/http/framing.c", "twice || old_chunks ||", "twice || (old_chunks && twice) ||", "test_attackers.py:Smuggled"),
    "a page of elsewhere may change": (
        "exporter/site/change.c", "	if (is_from_elsewhere(r))", "	if (is_from_elsewhere(r) && !r)", "unit:site_change"),
    "half a token is one": (
        "exporter/client/bearer_token.c", "	unsigned found = n != len;", "	unsigned found = n > len;", "unit:token"),
    "any certificate that is given": (
        "exporter/http/web_tls.c", "c->client_auth >= CLIENT_AUTH_VERIFY_IF_GIVEN &&", "c->client_auth > CLIENT_AUTH_VERIFY_IF_GIVEN &&",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "a certificate that may be given is not looked at": (
        "exporter/http/web_tls.c", "[CLIENT_AUTH_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUEST", "[CLIENT_AUTH_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUIRE",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "versions of TLS end at the newest": (
        "exporter/http/web_tls.c", "v = most + 1;", "v = most - most + 4;",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "versions of TLS begin at the oldest": (
        "exporter/http/web_tls.c", "v-- > least;", "v-- > least - least;",
        "test_web_config.py:WebConfig.test_old_tls_clients_get_in_where_the_file_says_so_and_nowhere_else"),
    "a file that is being written is read": (
        "exporter/http/web_access.c", "age < SETTLE_SECONDS * NS_PER_S &&", "age < 0 &&",
        "test_web_config.py:WebConfig.test_a_file_that_is_being_written_opens_no_door"),
    "a stranger is refused at once": (
        "exporter/http/web_users.c", "	const char *hash = user ? user->hash : hash_for_stranger(u, q);",
        "	const char *hash = user ? user->hash : hash_for_stranger(u, q);\n\n	if (!user)\n		return WEB_UNAUTHORIZED;",
        "unit:web_users"),
    "one guesser fills the queue": (
        "exporter/http/web_users.c", "		if (u->job[i].address == address)", "		if (u->job[i].address != address && !address)",
        "unit:web_users"),
    "failures are not counted": (
        "exporter/http/web_users.c", "		failure_limit_count(&u->failures,", "		failure_limit_count(&(struct failure_limit){0},",
        "unit:web_users"),
    "failures come back at once": (
        "exporter/http/web_users.h", "#define FAILURE_SECONDS   1", "#define FAILURE_SECONDS   0", "unit:web_users"),
    "a known password is told to whoever guesses": (
        "exporter/http/web_users.c", "	if (knows(&u->known[RIGHT_FROM_THERE], key, address))",
        "	if (knows(&u->known[RIGHT], key, ANYBODY))",
        "test_web_users.py:WebUsers.test_a_serial_guesser_is_slowed_and_nobody_else"),
    "a scraper waits for a guesser": (
        "exporter/http/web_users.c", "	if (knows(&u->known[RIGHT_FROM_THERE], key, address))",
        "	if (knows(&u->known[RIGHT_FROM_THERE], key, address) && u->stopping)",
        "test_web_users.py:WebUsers.test_a_serial_guesser_is_slowed_and_nobody_else"),
    "addresses without bound": (
        "exporter/http/web_users.c", "	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;",
        "	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &(struct failure_bucket){0};", "unit:web_users"),
    "a thread for each password": (
        "exporter/http/web_users.c", "	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)",
        "	pthread_t more;\n\n	u->holders++;\n	if (thread_start(&more, \"more\", verify_forever, u, NULL))\n		return WEB_OVERLOADED;\n"
        "	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)",
        "test_faults_limits.py:Limits.test_going_on_needs_no_process_and_no_thread"),
    "a thread for each stream": (
        "exporter/site/event_stream.c", "	struct event_stream *s = l->stop ? NULL : free_stream(l);",
        "	struct worker more = l->worker;\n	struct event_stream *s = l->stop || worker_start(&more, \"more\", feed_all, l, NULL) ? NULL : free_stream(l);",
        "test_faults_limits.py:Limits.test_going_on_needs_no_process_and_no_thread"),
    "passwords on the serving thread": (
        "exporter/http/web_users.c", "	pthread_mutex_unlock(&u->lock);\n	bool fits = password_fits(password, hash) && known_name;",
        "	bool fits = password_fits(password, hash) && known_name;\n	pthread_mutex_unlock(&u->lock);",
        "test_web_users.py:WebUsers.test_a_password_never_holds_up_a_scrape"),
    "cores of a server": (
        "exporter/lifecycle/privileges.c", "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)", "prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)",
        "test_hardening.py:Cores"),
    "no filter of system calls": (
        "exporter/lifecycle/privileges.c", "	if (o->security_seccomp && !IS_TRACED_BY_ITSELF) {",
        "	if (o->security_seccomp && IS_TRACED_BY_ITSELF) {", "test_privileges.py"),
    "new privileges": (
        "exporter/lifecycle/privileges.c", "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)", "prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)",
        "test_privileges.py"),
    "every line waits for who reads the log": (
        "exporter/core/log.c", "atomic_load(&dropped) ? 0 : LOG_PATIENCE_MS", "LOG_PATIENCE_MS", "unit:log"),
    "another program's socket is removed": (
        "exporter/http/listen.c", "		try_unix(&at) == -ECONNREFUSED)", "		try_unix(&at) <= 0)", "unit:listen"),
    "another database is a cache": (
        "exporter/catalogue/cache.c", "	if (readable ? !is_of_others(k) :", "	if (readable ? !is_of_others(k) || readable :",
        "unit:catalogue_cache"),
    "a tar is a cache": (
        "exporter/history/sql.c", "memcmp(head, magic, sizeof magic) != 0;", "memcmp(head, magic, 0) != 0;",
        "unit:catalogue_cache"),
    "two begin a cache": (
        "exporter/catalogue/cache.c", "	if (code == 0 && version == 0)\n		code = create",
        "	if (code == 0)\n		code = create", "unit:catalogue_cache"),
    "prices of other regions are not taken up": (
        "exporter/catalogue/current.c", "strcmp(origin.source_text, s->origin.source_text) == 0", "origin.at.ns", "unit:current_catalogue"),
    "a statement ends in a string": (
        "exporter/catalogue/sql_dump.c", "			d->quote = *at;", "			d->quote = '\\0';", "unit:catalogue_file"),
    "a dump works without end": (
        "exporter/catalogue/sql_dump.c", "(d->db, STEPS_BETWEEN, takes_too_long, d)", "(d->db, 0, takes_too_long, d)",
        "unit:catalogue_file"),
    "a cache that is set aside is told where something is fetched": (
        "exporter/catalogue/update.c", "	if (!no_cache)\n		catalogue_cache_aside", "	if (code == 0 && !no_cache)\n		catalogue_cache_aside",
        "test_catalogue.py:Catalogue.test_a_cache_that_is_set_aside_is_told"),
    "any certificate is somebody's": (
        "exporter/http/web_tls.c", "	if (c->sans && !any_san_allowed(c, &certificates[0]))",
        "	if (c->sans && !any_san_allowed(c, &certificates[0]) && !n)",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "metrics hide a question": (
        "exporter/site/site.c", "if (is_taken(metrics))", "if (is_taken(metrics) && false)", "unit:site"),
    "files in tmpfs are nobody's memory": ("recommender/sizing/run_needs.c", "size_or_nan(peak + run_needs_tmpfs(r))", "size_or_nan(peak)", "unit:sizing_words"),
}

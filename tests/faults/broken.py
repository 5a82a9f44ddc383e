#!/usr/bin/python3
"""Breaks the promises of tests/faults/README.md on purpose, one at a time, and sees whether its test notices.

Usage: tests/faults/broken.py [NAME...]       some 40 minutes; not part of the tests; exit code 1 when a test did not notice
       tests/faults/broken.py --rows          looks only whether each row still names one place and a test

Each row replaces a piece of the source, in a copy of what is tracked here, builds that, and runs the test of the promise, which
must fail. First all of these tests run on the program as it is, and must pass.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
LIMIT_SECONDS = 300
TRIES = 3

# name: (file, what stands there, what is put there, test: unit:NAME of build/check, or FILE[:NAME] of tests/e2e)
ROWS = {
    "one user's names keep out all others'": (
        "exporter/job_names.c", "	return most && most->held > places_of(j, user) + 1 ? most : NULL;", "	return most && !j->max ? most : NULL;",
        "test_recognise.py:Recognise.test_names_of_one_user_without_a_run_make_room_for_those_of_another"),
    "a job is lost with its place": (
        "exporter/job_names.c", "	if (own)\n		return own;", "	if (own && !j->max)\n		return own;", "unit:job_names"),
    "places go to and fro": (
        "exporter/job_names.c", "places_of(j, user) + 1 ?", "places_of(j, user) ?", "unit:job_names"),
    "a commit every fourth time": (
        "exporter/historian.c", "	return now >= h->paused_until && (h->ring.n || now >= h->upkeep_at);",
        "	return now >= h->paused_until && (h->ring.n > 3 || now >= h->upkeep_at);",
        "test_faults_history.py:Killed"),
    "a server stays root": (
        "exporter/become.c", "setresuid(a->uid, a->uid, a->uid) == 0)", "setresuid(-1, -1, -1) == 0)",
        "test_privileges.py:Privileges.test_root_goes_on_as_another_user_with_what_looking_takes"),
    "the limits of others may be set": (
        "exporter/system_calls.c", "		UNLESS_SKIP(SYS_prlimit64, 4),", "		UNLESS_SKIP(SYS_prlimit64 + 4096, 4),",
        "test_privileges.py:Privileges.test_what_a_server_never_does_is_refused_to_the_server_itself"),
    "others may read what a wrapper records": (
        "exporter/history_open.c", "O_EXCL | O_CLOEXEC, 0660)", "O_EXCL | O_CLOEXEC, 0664)",
        "test_history.py:Modes.test_of_a_wrapper_s_files_leave_others_no_right_and_those_of_its_job_are_the_job_s"),
    "others may read what a server makes": (
        "exporter/privileges.c", "	umask(umask(S_IRWXO) | S_IRWXO);\n", "",
        "test_history.py:Modes.test_of_a_server_s_files_leave_others_no_right"),
    "nobody is hung up on": (
        "exporter/crowd.c", "	if (c->n > c->max && g)", "	if (c->n > c->max && g && !c->max)",
        "test_faults_http.py:Crowd.test_idle_connections_above_the_limit_keep_no_scraper_out"),
    "who is being answered is never hung up on": (
        "exporter/crowd.c", "TAILQ_FIRST(TAILQ_EMPTY(&c->idle) ? &c->busy : &c->idle)", "TAILQ_FIRST(&c->idle)",
        "test_faults_http.py:Crowd.test_who_asks_for_ever_and_never_reads_keeps_no_scraper_out"),
    "CPUs are those of the start": (
        "exporter/sampler.c", "	host_look(&s->host);\n", "", "unit:sampler"),
    "answers without bound": (
        "exporter/crowd.c", "	if (g && g != asking)", "	if (g && g == asking)",
        "test_faults_http.py:Crowd.test_answers_that_nobody_reads_are_bounded"),
    "the counter stays open beside exit accounting": (
        "exporter/run_accounts.c", "	if (!uses_clock)", "	if (!uses_clock && a->clock.fd < 0)",
        "test_accuracy.py:Clock"),
    "the counter is closed where others may hide children": (
        "collectors/cgroup_others.c", "		if (o->other[i].pid != o->ours && o->other[i].ignores_children)",
        "		if (o->other[i].pid == o->ours && o->other[i].ignores_children)", "unit:accounts"),
    "a memory limit is nothing to go by": (
        "exporter/allowance.c", "	of_addresses = limit == addresses;", "	return;\n	of_addresses = limit == addresses;",
        "test_faults_memory.py:Full.test_shipped_limits_are_kept"),
    "what malloc gave out is not looked at": (
        "exporter/allowance.c", "	if (heap == SIZE_MAX)\n		return false;", "	if (heap)\n		return false;",
        "test_faults_memory.py:Full.test_shipped_limits_are_kept"),
    "a list grows on once it was given up": (
        "exporter/json.c", "allowance_gave_up() || ", "", "unit:allowance"),
    "a reading goes on once it was given up": (
        "exporter/history_hold.c", "	return (*function)();", "	return function && 0;", "unit:series_passes"),
    "the phases of a run by what one pass has": (
        "exporter/series_passes.c", "&ret->position, 0, phases_columns, &pass,", "&ret->position, 9, phases_columns, &pass,",
        "unit:series_passes"),
    "all open files for connections": (
        "exporter/http.c", "		most = l.rlim_cur / 2;", "		most = l.rlim_cur;",
        "test_faults_http.py:Crowd.test_few_open_files_are_shared_with_what_reads_processes"),
    "samples are lost while the disk is full": (
        "exporter/historian.c", "	ring_put_back(&h->ring, &work->batch);", "	ring_done(&work->batch);",
        "test_faults_history.py:SmallDisk.test_full_holds_nothing_up_and_loses_nothing"),
    "a signal at the largest file": (
        "exporter/job_signals.c", "{.number = SIGXFSZ, .ours = SIG_IGN}", "{.number = SIGXFSZ, .ours = SIG_DFL}",
        "test_faults_history.py:LargestFile"),
    "what comes before the job is nobody's": (
        "exporter/job_signals.c", "		sigaddset(&early, n);", "		sigdelset(&early, n);",
        "test_wrapper.py:Signals.test_what_comes_before_the_job_was_started_is_not_lost"),
    "a terminal's signals are taken for had": (
        "exporter/job_route.c", "	return -r->job;\n}", "	return 0;\n}",
        "test_wrapper_signals.py:OfTheTerminal.test_end_a_job_that_makes_a_group_of_its_own"),
    "a terminal's signals are for groups that left it": (
        "exporter/job_route.c", "	return getpgrp() == getpid() && ", "	return ",
        "test_wrapper_signals.py:OfTheTerminal.test_do_not_reach_a_group_that_left_the_terminal_s"),
    "who nobody would wake is stopped": (
        "exporter/job_route.c", "	return getsid(parent) == getsid(0) && ", "	return getsid(parent) || ",
        "test_wrapper_signals.py:OfTheTerminal.test_reach_all_of_a_group_that_the_job_makes"),
    "the kernel's signals are nobody's": (
        "exporter/job_route.c", "code > 0 && number == SIGXCPU", "code > 0",
        "test_wrapper_signals.py:OfTheKernel"),
    "what the job sends comes back to it": (
        "exporter/job_route.c", "is_of_job(r, info->si_pid))", "is_of_job(r, 0))",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "what only the job itself sends is the job's": (
        "exporter/job_route.c", "		pid = (pid_t)field[STAT_PARENT];", "		return false;",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "a signal to the group is the caller's once more": (
        "exporter/job_route.c", "info->si_signo != SIGTERM && !is_of_groups", "info->si_signo > 0 || !is_of_groups",
        "test_wrapper_signals.py:OfTheJob.test_to_its_group_come_once"),
    "a signal to the caller is the group's": (
        "exporter/job_route.c", "!survived(field, info->si_signo)", "!survived(field, 0)",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "what comes with the job's end is lost": (
        "exporter/wrapper.c", "	job_route_end(&route);", "	(void)job_route_end;",
        "test_wrapper_signals.py:OfTheJob.test_right_before_its_end_reach_the_caller"),
    "what a signal carries is lost": (
        "exporter/job_route.c", "	if (to > 0 && info->si_code < 0 &&", "	if (to == 0 && info->si_code < 0 &&",
        "test_wrapper_signals.py:Queued"),
    "timers end with the caller": (
        "exporter/job_signals.c", "	go_on_with_timers();", "	(void)go_on_with_timers;",
        "test_wrapper_signals.py:KeptByExecve.test_is_there_though_fork_does_not_keep_it"),
    "the job outlives its caller": (
        "exporter/fork_losses.c", "	if (!l->death_signal)", "	if (l->parent)",
        "test_wrapper_signals.py:KeptByExecve.test_is_the_death_that_the_caller_asked_for"),
    "a priority ends with the caller": (
        "exporter/fork_losses.c", "	if (l->schedule.size)", "	if (!l->parent)",
        "test_wrapper_signals.py:KeptByExecve.test_is_there_though_fork_does_not_keep_it"),
    "a disk is waited for however long it takes to read": (
        "exporter/leave.c", "(double)LEAVE_SECONDS / SLICES", "(double)3600 / SLICES",
        "test_faults_ending.py:Ending.test_a_disk_that_hangs_at_reading_does_not_hold_it_up"),
    "nobody makes a folder that was deleted": (
        "exporter/writer.c", "	int code = make_folder_of(w->config->path, e);", "	int code = 0;", "unit:historian"),
    "what makes room is forgotten": ("exporter/ring.c", ": earlier + later;", ": later;", "unit:ring"),
    "room for eight samples": (
        "exporter/historian.c", "h->ring.max_samples = HISTORIAN_RING_SAMPLES;", "h->ring.max_samples = 8;",
        "test_faults_history.py:Stalled.test_scrapes_stay_fast_and_nothing_is_lost"),
    "the sampler waits for the disk": (
        "exporter/historian.c", "	hand_over(h, first);", "	hand_over(h, first);\n	historian_flush(h, 60);",
        "test_faults_history.py:Stalled.test_scrapes_stay_fast_and_nothing_is_lost"),
    "looks take all of a CPU": (
        "exporter/sampler.c", "now_read().mono.ns + (int64_t)(look_clock(s) - cpu);", "now_read().mono.ns + (int64_t)(0 * cpu);",
        "test_faults_time.py:Time.test_looks_that_cannot_keep_up_take_half_a_cpu_and_scrapes_have_their_turn"),
    "who could not be read once is not searched for": (
        "collectors/process_tree.c", "		t->births = 0;", "		t->births += 0;", "unit:jobs_faults"),
    "what could not be read once is not due": (
        "collectors/process_tree_sums.c", "		if (member_read_pss(m, h, &cost))", "		if (member_read_pss(m, h, &cost) || any)",
        "unit:jobs_faults"),
    "a journal that dies with who writes": (
        "exporter/history_open.c", '"PRAGMA journal_mode = WAL;"', '"PRAGMA journal_mode = MEMORY;"', "unit:history_kill"),
    "what was not asked for is kept": (
        "collectors/process_tree_dead.c", "	return b->asked[i] ? kept_part",
        "	return b->heir ? kept_part", "unit:process_tree_property"),
    "a zombie has all of its children": (
        "collectors/process_tree_dead.c", " && !t->member[heir].zombie", "", "unit:process_tree_property"),
    "who may be counted twice is not asked for": (
        "collectors/process_tree_dead.c", "(parent > i || b->read[parent] || b->doubted[parent])", "parent > i",
        "unit:process_tree_property"),
    "who was waited for is counted for itself, too": (
        "collectors/process_tree_dead.c", "	return b->asked[i] ? kept_part(", "	return b->asked[i] ? 1 + 0 * kept_part(",
        "test_faults_machine.py:Processes.test_children_that_come_and_go_leave_their_time_and_nothing_else"),
    "who has gone is counted at each look": (
        "collectors/lineage.c", "	lineage_remove_where(l, is_gone, 0);", "	if (l->n > 100000)\n		lineage_remove_where(l, is_gone, 0);",
        "test_faults_machine.py:Processes.test_children_that_come_and_go_leave_their_time_and_nothing_else"),
    "in any number of runs": (
        "collectors/run_members.c", "	if (s->runs >= RUN_MEMBERS_NESTED_MAX)", "	if (s->runs > 100000)",
        "unit:jobs_nested"),
    "streams begin where scrapes are answered": (
        "exporter/site.c", "page && page->takes_long ?", "page && !page->answer ?",
        "test_faults_history.py:Stalled.test_questions_that_read_it_hold_up_neither_scrapes_nor_the_end"),
    "another writer's lock is no reason to try again": (
        "exporter/historian.c", "	h->pause = next_pause(h, failed && !at_once);",
        "	if (failed)\n		ring_done(&h->ring);\n	h->pause = next_pause(h, failed && !at_once);",
        "test_faults_history.py:Locked.test_another_writer_stalls_no_scrape_and_loses_nothing"),
    "a deleted file is written on": (
        "exporter/history_open.c", "	if (!history_moved(h))\n		return 0;\n	return err_set",
        "	if (!history_moved(h) || h->writes)\n		return 0;\n	return err_set",
        "test_faults_history.py:Replaced.test_deleted_while_a_run_goes_on"),
    "damage is left to the reader": (
        "exporter/app.c", "		historian_suspect(app->historian);", "		(void)historian_suspect;",
        "test_faults_history.py:Replaced.test_damage_that_only_a_reader_meets_is_mended"),
    "a FIFO is opened": (
        "exporter/history_open.c", "	if (!S_ISREG(st.st_mode))", "	if (S_ISSOCK(st.st_mode))", "unit:history_open"),
    "views are read": (
        "exporter/untrusted.h", "SQLITE_DBCONFIG_ENABLE_VIEW, 0", "SQLITE_DBCONFIG_ENABLE_VIEW, 1", "unit:history_damage"),
    "a schema of the future is taken for ours": (
        "exporter/history_schema.c", "	if (version > SCHEMA_VERSION)", "	if (version > SCHEMA_VERSION + 1000000)",
        "test_history.py:BrokenFile"),
    "a schema below zero is one of ours": (
        "exporter/history_schema.c", "	if (version < 0)", "	if (version < INT64_MIN / 2)", "unit:history_damage"),
    "two lengths are one": (
        "exporter/framing.c", "		twice |= f->times[i] > 1;", "		twice |= f->times[i] > 100;",
        "test_attackers.py:Smuggled.test_what_is_ambiguous_is_refused_and_ends_the_connection"),
    "a body is waited for however long": (
        "exporter/http.c", "exchange_length(x) > BODY_READ_MAX", "exchange_length(x) == 1",
        "test_attackers.py:Smuggled.test_a_body_that_is_announced_too_long_is_not_waited_for"),
    "bodies without bound": (
        "exporter/http_exchange.c", "+ more <= allowance()->changes", "+ more <= 100 * allowance()->changes", "unit:http_entry"),
    "bodies of strangers": (
        "exporter/http.c", "	return x->keeps_body ? let_in", "	return x->keeps_body && !refused ? let_in", "unit:http_entry"),
    "any name is ours": (
        "exporter/hosts.c", "	return is_address(host) || ", "	return !is_address(host) || ",
        "test_attackers.py:ReboundNames.test_nothing_is_read_by_a_name_that_is_not_ours"),
    "long answers without bound": (
        "exporter/desk.c", "d->bytes < d->most_bytes", "d->bytes < SIZE_MAX / 2",
        "test_attackers.py:LongAnswers.test_clients_that_do_not_read_them_fill_no_memory"),
    "everybody may change": (
        "exporter/site_change.c", "	if (!o->allow_changes)\n", "	if (!o->allow_changes && !o)\n", "unit:site_change"),
    "a page of elsewhere may change": (
        "exporter/site_change.c", "	if (is_from_elsewhere(r))", "	if (is_from_elsewhere(r) && !r)", "unit:site_change"),
    "half a token is one": (
        "exporter/token.c", "	unsigned found = n != len;", "	unsigned found = n > len;", "unit:token"),
    "any certificate that is given": (
        "exporter/web_tls.c", "c->client_auth >= CLIENT_AUTH_VERIFY_IF_GIVEN &&", "c->client_auth > CLIENT_AUTH_VERIFY_IF_GIVEN &&",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "a certificate that may be given is not looked at": (
        "exporter/web_tls.c", "[CLIENT_AUTH_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUEST", "[CLIENT_AUTH_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUIRE",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "versions of TLS end at the newest": (
        "exporter/web_config.c", "v = c->max_version + 1;", "v = 4;",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "versions of TLS begin at the oldest": (
        "exporter/web_config.c", "v-- > c->min_version;", "v-- > 0;",
        "test_web_config.py:WebConfig.test_old_tls_clients_get_in_where_the_file_says_so_and_nowhere_else"),
    "a file that is being written is read": (
        "exporter/web.c", "age < SETTLE_SECONDS * NS_PER_S &&", "age < 0 &&",
        "test_web_config.py:WebConfig.test_a_file_that_is_being_written_opens_no_door"),
    "a stranger is refused at once": (
        "exporter/web_users.c", "	const char *hash = user ? user->hash : hash_for_stranger(u, q);",
        "	const char *hash = user ? user->hash : hash_for_stranger(u, q);\n\n	if (!user)\n		return WEB_DENIED;",
        "unit:web_users"),
    "one guesser fills the queue": (
        "exporter/web_users.c", "		if (u->job[i].address == address)", "		if (u->job[i].address != address && !address)",
        "unit:web_users"),
    "failures are not counted": (
        "exporter/web_users.c", "		failure_limit_count(&u->failures,", "		failure_limit_count(&(struct failure_limit){0},",
        "unit:web_users"),
    "failures come back at once": (
        "exporter/failure_limit.h", "#define FAILURE_SECONDS   1", "#define FAILURE_SECONDS   0", "unit:web_users"),
    "a known password is told to whoever guesses": (
        "exporter/web_users.c", "	if (knows(&u->known[RIGHT_FROM_THERE], key, address))",
        "	if (knows(&u->known[RIGHT], key, ANYBODY))",
        "test_web_users.py:WebUsers.test_a_serial_guesser_is_slowed_and_nobody_else"),
    "a scraper waits for a guesser": (
        "exporter/web_users.c", "	if (knows(&u->known[RIGHT_FROM_THERE], key, address))",
        "	if (knows(&u->known[RIGHT_FROM_THERE], key, address) && u->stopping)",
        "test_web_users.py:WebUsers.test_a_serial_guesser_is_slowed_and_nobody_else"),
    "addresses without bound": (
        "exporter/failure_limit.c", "	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &l->of_others;",
        "	struct failure_bucket *b = i < FAILURE_ADDRESSES ? &l->of_one[i] : &(struct failure_bucket){0};", "unit:web_users"),
    "a thread for each password": (
        "exporter/web_users.c", "	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)",
        "	pthread_t more;\n\n	u->holders++;\n	if (thread_start(&more, \"more\", STACK_SIZE, verify_forever, u, NULL))\n		return WEB_BUSY;\n"
        "	if (u->stopping || u->n == WEB_USERS_WAITING_MAX)",
        "test_faults_limits.py:Limits.test_going_on_needs_no_process_and_no_thread"),
    "a thread for each stream": (
        "exporter/live.c", "	struct live_stream *s = l->stop ? NULL : free_stream(l);",
        "	pthread_t more;\n	struct live_stream *s = l->stop || thread_start(&more, \"more\", STACK_SIZE, work, l, NULL) ? NULL : free_stream(l);",
        "test_faults_limits.py:Limits.test_going_on_needs_no_process_and_no_thread"),
    "no end without a thread to watch it": (
        "exporter/leave.c", "	leave_free(l);\n	return NULL;", "	leave_free(l);\n	_exit(1);",
        "test_faults_limits.py:Limits.test_in_a_full_group_of_root"),
    "passwords on the serving thread": (
        "exporter/web_users.c", "	pthread_mutex_unlock(&u->lock);\n	bool fits = password_fits(password, hash) && known_name;",
        "	bool fits = password_fits(password, hash) && known_name;\n	pthread_mutex_unlock(&u->lock);",
        "test_web_users.py:WebUsers.test_a_password_never_holds_up_a_scrape"),
    "a device is opened in a control group": (
        "collectors/base/tree.c", "where.f_type != CGROUP_SUPER_MAGIC && where.f_type != CGROUP2_SUPER_MAGIC",
        "where.f_type == 1", "unit:base"),
    "a PID is the process": (
        "collectors/process_member.c", "(code == 0 && s.start_ticks != m->start_ticks)", "(code == 1)",
        "test_faults_machine.py:Reuse"),
    "a circle of parents is walked": (
        "collectors/process_tree.c", "	if (process_tree_find(t, pid) != PROCESS_TREE_NONE)",
        "	if (t->n >= 100)", "unit:jobs_odd"),
    "durations by the wall clock": (
        "collectors/jobs_follow.c", "	return mono_seconds_between(t->started_mono,",
        "	if (h->now.wall.ns)\n		return (double)(h->now.wall.ns - h->now.mono.ns) / 1e9;\n	return mono_seconds_between(t->started_mono,",
        "test_faults_time.py:Time.test_clock_that_steps_changes_no_duration_and_loses_no_sample"),
    "cores of a server": (
        "exporter/privileges.c", "prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)", "prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)",
        "test_hardening.py:Cores"),
    "no filter of system calls": (
        "exporter/privileges.c", "	if (o->security_seccomp && !IS_TRACED_BY_ITSELF) {",
        "	if (o->security_seccomp && IS_TRACED_BY_ITSELF) {", "test_privileges.py"),
    "new privileges": (
        "exporter/privileges.c", "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)", "prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)",
        "test_privileges.py"),
    "a decimal comma": (
        "exporter/main.c", "	signal(SIGXFSZ, SIG_IGN);", "	signal(SIGXFSZ, SIG_IGN);\n	setlocale(LC_ALL, \"\");",
        "test_faults_machine.py:Locale"),
    "chunks too small are kept": (
        "collectors/base/mem.c", "		size_t room = drop_chunks(later);",
        "		size_t room = 0;\n\n		while (*later)\n			later = &(*later)->next;", "unit:arena"),
    "a FIFO without a writer is empty": (
        "collectors/base/file.c", "	if (*pipe)\n		code = wait_for_writer", "	if (*pipe && fd < 0)\n		code = wait_for_writer",
        "unit:file"),
    "half an environment": (
        "collectors/process_facts.c", "#define ENVIRONMENT_MAX      (8u << 20)", "#define ENVIRONMENT_MAX      (1u << 18)",
        "unit:process_facts"),
    "guest time is told twice": (
        "collectors/cpu.c", "			counter_follow(&c->mode[i], f.ticks[i]) /", "			(double)f.ticks[i] /",
        "unit:collect_cpu"),
    "names as they came": (
        "exporter/exposition.c", "		buf_addc(out, '\\\\');\n		buf_addc(out, *s == '\\n' ? 'n' : *s);",
        "		buf_addc(out, *s);", "unit:exposition"),
    "every line waits for who reads the log": (
        "exporter/log.c", "atomic_load(&dropped) ? 0 : LOG_PATIENCE_MS", "LOG_PATIENCE_MS", "unit:log"),
    "another program's socket is removed": (
        "exporter/listen.c", "		try_unix(&at) == -ECONNREFUSED)", "		try_unix(&at) <= 0)", "unit:listen"),
    "another database is a cache": (
        "exporter/catalogue_cache.c", "	if (readable ? !is_of_others(k) :", "	if (readable ? !is_of_others(k) || readable :",
        "unit:catalogue_cache"),
    "a tar is a cache": (
        "exporter/catalogue_cache.c", "memcmp(head, magic, sizeof magic) != 0;", "memcmp(head, magic, 0) != 0;",
        "unit:catalogue_cache"),
    "two begin a cache": (
        "exporter/catalogue_save.c", "	if (code == 0 && version == 0)\n		code = create",
        "	if (code == 0)\n		code = create", "unit:catalogue_cache"),
    "prices of other regions are not taken up": (
        "exporter/shelf.c", "strcmp(origin.asked, s->origin.asked) == 0", "origin.at.ns", "unit:shelf"),
    "a statement ends in a string": ("exporter/sql_end.c", "		s->in = IN_QUOTE;", "		s->in = PLAIN;", "unit:sql_end"),
    "what costs without end lacks a rate": (
        "recommender/pick.c", "isnan(amount) ? EXCLUDED_CURRENCY", "!(counted < lowest) ? EXCLUDED_CURRENCY", "unit:servers"),
    "a dump works without end": (
        "exporter/catalogue_dump.c", "(d->db, STEPS_BETWEEN, takes_too_long, d)", "(d->db, 0, takes_too_long, d)",
        "unit:catalogue_file"),
    "jobs are never forgotten": (
        "exporter/history_prune.c", "		if (code == 0 && step.samples_left > 0 && doomed->job[i])",
        "		if (code == 0 && step.samples_left > 0 && doomed->job[i] < 0)", "unit:history_prune"),
    "each process believes its clock": (
        "exporter/history_clock.c", "	c = kept;", "	c = AGE_CLOCK_INIT;", "unit:age_clock"),
    "what another exporter is to hand on is dropped": (
        "exporter/history_agree.c", "l->keep_unforwarded || is_believed(n.forwards_at, now);", "l->keep_unforwarded;",
        "unit:history_prune"),
    "read once": ("exporter/site.c", "	if (code == -ESTALE) {", "	if (code == -ESTALE && !route) {", "unit:site"),
    "a run that fails holds up all": (
        "exporter/setbacks.c", "#define FAILURES_TO_GIVE_WAY 3", "#define FAILURES_TO_GIVE_WAY 3000000",
        "test_forward.py:Forward.test_a_run_that_always_fails_holds_up_no_other"),
    "a second signal waits, too": (
        "collectors/base/thread.c", "	} while (left > 0 && !thread_hurry(hurry));", "	} while (left > 0);",
        "test_forward.py:Forward.test_a_second_signal_ends_the_waiting"),
    "a second server records, too": (
        "exporter/server_lock.c", "	if (fcntl(*ret, F_OFD_SETLK, &lock) == 0", "	if (fcntl(*ret, F_OFD_SETLK, &lock) <= 0",
        "test_history.py:Shared.test_of_two_servers_on_one_machine_one_records"),
    "who hangs in exec is waited for": (
        "collectors/base/tree_guard_signs.c", "size > 0 && code == 0;", "size > 0 && code > size;",
        "test_faults_hanging.py:Hanging.test_servers_answer_begin_and_end"),
    "who maps a file is waited for": (
        "collectors/base/tree_guard_signs.c", "	return *waits || threads > 1;", "	return !*waits && threads == 0;",
        "test_faults_hanging.py:Hanging.test_servers_answer_begin_and_end"),
    "what is kept open is read of whoever hangs": (
        "collectors/process.c", "		n = tree_answers(h->proc, path) ?", "		n = k->fd >= 0 ?",
        "test_faults_hanging.py:Hanging.test_a_job_that_hangs_is_followed_to_its_end"),
    "programs are read by the sampler itself": (
        "collectors/base/tree_guard.c", '{"exe", "root", "cwd"}', '{"root", "cwd"}',
        "test_faults_files.py:Files.test_a_program_that_never_answers_is_not_read"),
    "layers of a process are asked by the sampler itself": (
        "collectors/base/tree_guard.c", '{"exe", "root", "cwd"}', '{"exe", "cwd"}',
        "test_faults_files.py:Files.test_layers_that_do_not_answer_are_not_waited_for"),
    "files that name jobs are read by the sampler itself": (
        "collectors/base/tree_guard.c", "	if (is_of_its_files(w, file))", "	if (is_of_its_files(w, file) && !w->foreign)",
        "test_faults_files.py:Files.test_a_job_named_below_layers_is_found_when_they_answer"),
    "who was left out is not looked at again": (
        "exporter/finder_name.c", ".left_out != left_out)", ".left_out < left_out)",
        "test_faults_files.py:Files.test_a_job_named_below_layers_is_found_when_they_answer"),
    "memory of threads is read by the sampler itself": (
        "collectors/base/tree_guard.c", "may_be_mapping(g, process, &waits) ? BY_THREAD", "may_be_mapping(g, process, &waits) && !g ? BY_THREAD",
        "unit:tree_guard"),
    "who is slow is taken for who hangs": (
        "collectors/base/tree_guard_ask.c", "worked - before < WORKS_NS;", "worked >= before;", "unit:tree_guard"),
    "eight that hang hide all others": (
        "collectors/base/tree_guard.c", "	if (code == -ENOSPC && is_calm(g, pid))", "	if (code == -ENOSPC && !g)",
        "test_faults_hanging.py:Hanging.test_a_job_with_threads_is_found_while_many_hang"),
    "what does not answer has not grown": (
        "collectors/run_disk.c", "	d->hash = 0;\n", "", "unit:run_place"),
    "a program that did not answer once is never read": (
        "collectors/run_binary.c", "	if (n == -ETIMEDOUT)", "	if (n == -ETIMEDOUT && !h)", "unit:run_binary"),
    "what nobody waits for is freed at once": (
        "exporter/sampler_asked.c", "		r->left = true;", "		free(r);", "unit:sampler"),
    "a job that cannot be counted waits for the sampler": (
        "exporter/wrapper.c", '"err", e.text,\n\t\t\tNULL);\n\tint code = run(', '"err", e.text,\n\t\t\tNULL), wrapper_become(command);\n\tint code = run(',
        "test_faults_ending.py:Ending.test_a_job_begins_where_no_signal_ends_the_waiting_of_the_sampler"),
    "what was given up is done later": ("exporter/sampler_asked.c", "	*at = r->next;", "	*at = r->next ? r->next : *at;", "unit:sampler"),
    "who waits already waits on": (
        "exporter/sampler_asked.c", "		pthread_cond_broadcast(&s->ticked);\n	}\n	int code", "	}\n	int code", "unit:sampler"),
    "what is asked about goes with who asked": ("exporter/sampler_asked.c", "	shared_hold(context);\n", "", "unit:sampler"),
    "a signal waits for the sampler": (
        "exporter/sampler_asked.c", "		if (waits(p.signals))", "		if (waits(p.signals) && !r)", "unit:sampler"),
    "a run that was given up is recorded": (
        "exporter/sampler_asked.c", "	if (!is_awaited(s, r)) {", "	if (!is_awaited(s, r) && !r) {", "unit:sampler"),
    "a job's end waits for a sampler that hangs": (
        "exporter/sampler.h", "#define SAMPLER_PATIENCE_SECONDS 10", "#define SAMPLER_PATIENCE_SECONDS 1000",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "runs of a pod stay open where the sampler hangs": (
        "exporter/main.c", "	if (l->app->self)\n", "	if (!l->app)\n",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "a cache that is set aside is told where something is fetched": (
        "exporter/catalogue_update.c", "	if (!no_cache)\n		catalogue_cache_aside", "	if (code == 0 && !no_cache)\n		catalogue_cache_aside",
        "test_catalogue.py:Catalogue.test_a_cache_that_is_set_aside_is_told"),
    "what the historian was not to do is done later": (
        "exporter/historian_do.c", "		*place_of(h, c) = c->next;\n", "		return h ? code : 0;\n", "unit:historian_do"),
    "what the historian does is freed under it": (
        "exporter/historian_do.c", "	if (code == -EINPROGRESS && !c->done) {", "	if (code == -EINPROGRESS && c->done) {",
        "unit:historian_do"),
    "what is to be handed on has all the time": (
        "exporter/main.c", "#define LAST_SECONDS 2.0", "#define LAST_SECONDS 3600.0",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "a last look at work is cut off": (
        "exporter/main.c", "			leave_works(begun, ", "			leave_works(NULL, ",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "a report at work is cut off": (
        "exporter/wrapper.c", "	leave_works(leave, ", "	leave_works(NULL, ",
        "test_faults_ending.py:Ending.test_a_disk_that_hangs_at_reading_does_not_hold_it_up"),
    "a control group that comes too late stays": (
        "exporter/run_accounts.c", "	run_accounts_close(&asked->accounts);\n	free(asked);", "	free(asked);",
        "test_faults_ending.py:Ending.test_a_job_begins_where_no_signal_ends_the_waiting_of_the_sampler"),
    "a stopped terminal is a disk that hangs": (
        "exporter/wrapper.c", "	leave_reached(leave);\n	summary_print(&summary);",
        "	summary_print(&summary);\n	leave_reached(leave);",
        "test_faults_ending.py:Ending.test_a_terminal_that_is_stopped_is_waited_for"),
    "who does not answer is forgotten": (
        "collectors/process.c", "	return code == -ETIMEDOUT;", "	return code > 0;", "unit:process_book"),
    "any certificate is somebody's": (
        "exporter/web_tls.c", "	if (c->n_sans > 0 && !any_san_allowed(c, &certificates[0]))",
        "	if (c->n_sans > 0 && !any_san_allowed(c, &certificates[0]) && !n)",
        "test_web_config.py:WebConfig.test_tls_clients_get_in_as_the_file_says"),
    "a sleeping machine's clock": (
        "collectors/base/clock.c", "read_ns(CLOCK_BOOTTIME)", "read_ns(CLOCK_MONOTONIC)",
        "test_faults_time.py:Time.test_suspended_machine_is_one_long_tick_and_no_burst"),
    "metrics hide a question": (
        "exporter/option_shapes.c", " && !site_needs(text)", "", "unit:options"),
    "files in tmpfs are nobody's memory": ("recommender/sizing.c", "size_or_nan(peak + run_tmpfs(r))", "size_or_nan(peak)", "unit:sizing_words"),
    "what several map is mapped several times": (
        "collectors/process_tree_sums.c", "t->alone ? m->kind_bytes[MEMORY_SHMEM] : member_shmem(m, h)", "m->kind_bytes[MEMORY_SHMEM]",
        "unit:jobs_memory"),
    "a limit is what is asked for": ("recommender/memory.c", "#define LIMIT_SHARE 1.05", "#define LIMIT_SHARE 0.05", "unit:strategies"),
    "links of a process are followed": (
        "collectors/base/foreign.c", "O_PATH | O_NOFOLLOW | O_CLOEXEC", "O_PATH | O_CLOEXEC", "unit:foreign"),
    "another's file is read for a process": (
        "collectors/base/foreign.c", "!S_ISREG(w.st.st_mode) || !is_known_to_process(&w)",
        "!S_ISREG(w.st.st_mode) || (!is_known_to_process(&w) && !w.st.st_mode)",
        "test_faults_files.py:Files.test_a_link_leads_to_no_secret"),
    "a file server that never answers is asked": (
        "collectors/mounts.c", "	if (strncmp(m->type, \"fuse\", 4) == 0)\n		return MOUNT_REMOTE;",
        "	if (strncmp(m->type, \"fuse\", 4) == 0)\n		return MOUNT_LOCAL;",
        "test_faults_files.py:Files.test_a_folder_that_never_answers_is_not_asked"),
}
INCLUDES = {"a decimal comma": "#include <locale.h>\n"}


class Copy:
    def __init__(self, folder):
        self.root = pathlib.Path(folder) / "source"
        tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
        for name in filter(None, tracked.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)

    def run(self, command, **options):
        return subprocess.run(["bash", "-c", f". tests/build.sh; {command}"], cwd=self.root, capture_output=True, text=True,
                              check=False, **options)

    def build(self, test):
        preset, targets = ("check", f"test_{test[5:]}") if test.startswith("unit:") else ("e2e", "")
        done = self.run(f"build_preset {preset} {targets}")
        return done.stdout + done.stderr if done.returncode else ""

    def failure(self, test):
        """What the test says when it fails, "" when it passes."""
        if test.startswith("unit:"):
            command = f"ctest --test-dir build/check -R '^check.unit.{test[5:]}$' --no-tests=error --output-on-failure"
        else:
            file, _, name = test.partition(":")
            command = f"env {environment_of(self.root)} /usr/bin/python3 -B tests/e2e/{file} {name}"
        try:
            done = self.run(command, timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            return f"not over after {LIMIT_SECONDS} s"
        return done.stdout + done.stderr if done.returncode else ""


def environment_of(root):
    """What CTest gives to these tests, as KEY=VALUE words."""
    text = "".join(p.read_text() for p in (root / "build/e2e/tests/e2e").glob("CTestTestfile.cmake"))
    found = dict(re.findall(r"(RIGHTSIZE_[A-Z_]+)=([^;\"\]]+)", text))
    return " ".join(f"'{k}={v}'" for k, v in found.items())


def stale(root, name):
    """What the row names that is not there, "" for none."""
    file, before, _, test = ROWS[name]
    path = root / file
    places = path.read_text().count(before) if path.exists() else 0
    if places != 1:
        return f"{file} has {places} places like {before!r}: mend the row"
    kind, _, tested = test.partition(":")
    source = root / (f"tests/unit/test_{tested}.c" if kind == "unit" else f"tests/e2e/{kind}")
    if not source.exists():
        return f"there is no {source.relative_to(root)}: mend the row"
    words = [] if kind == "unit" else tested.split(".") if tested else []
    missing = [w for w in words if not re.search(rf"^ *(class|def) {w}\b", source.read_text(), re.M)]
    return f"{source.name} has no {missing[0]}: mend the row" if missing else ""


def try_row(copy, name):
    file, before, after, test = ROWS[name]
    path = copy.root / file
    good = path.read_text()
    path.write_text(INCLUDES.get(name, "") + good.replace(before, after))
    try:
        failed = copy.build(test)
        if failed:
            return "it does not build:\n" + failed[-2000:]
        # Some faults show by chance.
        return "" if any(copy.failure(test) for _ in range(TRIES)) else "NOT NOTICED"
    finally:
        path.write_text(good)


def main():
    only_rows = sys.argv[1:] == ["--rows"]
    names = list(ROWS) if only_rows else sys.argv[1:] or list(ROWS)
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        sys.exit(f"broken.py: {unknown[0]!r} is none of: " + ", ".join(ROWS))
    wrong = [f"{name}: {said}" for name in names if (said := stale(ROOT, name))]
    if wrong or only_rows:
        sys.exit("\n".join(wrong) or 0)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="broken-") as folder:
        copy = Copy(folder)
        for test in dict.fromkeys(ROWS[name][3] for name in names):
            wrong = copy.build(test) or copy.failure(test)
            if wrong:
                sys.exit(f"broken.py: {test}, on the program as it is: {wrong[-2000:]}")
        print(f"{'broken on purpose':55} test", flush=True)
        for name in names:
            said = try_row(copy, name)
            bad += bool(said)
            print(f"{name:55} {ROWS[name][3]}: {said or 'noticed'}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

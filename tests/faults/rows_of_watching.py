"""Rows of broken.py about reading processes, jobs and their wrappers, and the history. The format is that of
rows_of_serving.py."""

ROWS = {
    "one user's names keep out all others'": (
        "exporter/discovery/name_quota.c", "	return most && most->held > places_of(j, user) + 1 ? most : NULL;", "	return most && !j->max ? most : NULL;",
        "test_recognise.py:Recognise.test_names_of_one_user_without_a_run_make_room_for_those_of_another"),
    "a job is lost with its place": (
        "exporter/discovery/name_quota.c", "	if (known)\n		return own", "	if (known && !j->max)\n		return own", "unit:job_names"),
    "places go to and fro": (
        "exporter/discovery/name_quota.c", "places_of(j, user) + 1 ?", "places_of(j, user) ?", "unit:job_names"),
    "a commit every fourth time": (
        "exporter/history/historian.c", "	return now >= h->paused_until && (h->queue.n || now >= h->upkeep_at);",
        "	return now >= h->paused_until && (h->queue.n > 3 || now >= h->upkeep_at);",
        "test_faults_history.py:Killed"),
    "others may read what a wrapper records": (
        "exporter/history/open.c", "O_CREAT | O_CLOEXEC, 0660)", "O_CREAT | O_CLOEXEC, 0664)",
        "test_history.py:Modes.test_of_a_wrapper_s_files_leave_others_no_right_and_those_of_its_job_are_the_job_s"),
    "CPUs are those of the start": (
        "exporter/sampling/sampler.c", "	host_look(&s->host);\n", "", "unit:sampler"),
    "the counter stays open beside exit accounting": (
        "exporter/wrapper/run_accounts.c", "	if (!uses_clock)", "	if (!uses_clock && a->clock.fd < 0)",
        "test_accuracy.py:Clock"),
    "a zombie counts beside the parent that waited for it": (
        "collectors/process/tree_dead.c", "m->perhaps_waited = true;", "m->perhaps_waited = false;", "unit:jobs"),
    "the rest of a shared group is charged to the run": (
        "collectors/accounting/group_owner.c", "(!members->is_member ||", "(members->is_member ||", "unit:accounts"),
    "a reading goes on once it was given up": (
        "exporter/history/read.c", "	return (*function)();", "	return function && 0;", "unit:series_passes"),
    "samples are lost while the disk is full": (
        "exporter/history/historian.c", "	event_queue_put_back(&h->queue, &work->batch);", "	event_queue_done(&work->batch);",
        "test_faults_history.py:SmallDisk.test_full_holds_nothing_up_and_loses_nothing"),
    "a signal at the largest file": (
        "exporter/wrapper/job_signals.c", "{.number = SIGXFSZ, .ours = SIG_IGN}", "{.number = SIGXFSZ, .ours = SIG_DFL}",
        "test_faults_history.py:LargestFile"),
    "what comes before the job is nobody's": (
        "exporter/wrapper/job_signals.c", "		sigaddset(&early, n);", "		sigdelset(&early, n);",
        "test_wrapper.py:Signals.test_what_comes_before_the_job_was_started_is_not_lost"),
    "process 1 has a parent": (
        "exporter/wrapper/signal_route.c", "r->caller <= 1 && info->si_pid != r->job", "r->caller < 0 && info->si_pid != r->job",
        "test_wrapper_signals.py:OfTheJobWithoutParent.test_are_its_own_where_it_is_process_1"),
    "a terminal's signals are taken for had": (
        "exporter/wrapper/signal_route.c", "	return -r->job;\n}", "	return 0;\n}",
        "test_wrapper_signals.py:OfTheTerminal.test_end_a_job_that_makes_a_group_of_its_own"),
    "a terminal's signals are for groups that left it": (
        "exporter/wrapper/signal_route.c", "	return getpgrp() == getpid() && ", "	return ",
        "test_wrapper_signals.py:OfTheTerminal.test_do_not_reach_a_group_that_left_the_terminal_s"),
    "who nobody would wake is stopped": (
        "exporter/wrapper/signal_route.c", "	return getsid(parent) != getsid(0) || ", "	return !getsid(parent) && ",
        "test_wrapper_signals.py:OfTheTerminal.test_reach_all_of_a_group_that_the_job_makes"),
    "the kernel's signals are nobody's": (
        "exporter/wrapper/signal_route.c", "code > 0 && number == SIGXCPU", "code > 0",
        "test_wrapper_signals.py:OfTheKernel"),
    "what the job sends comes back to it": (
        "exporter/wrapper/signal_route.c", "is_of_job(r, info->si_pid))", "is_of_job(r, 0))",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "what only the job itself sends is the job's": (
        "exporter/wrapper/signal_route.c", "		pid = (pid_t)field[STAT_PARENT];", "		return false;",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "a signal to the group is the caller's once more": (
        "exporter/wrapper/signal_route.c", "info->si_signo != SIGTERM && !is_of_groups", "info->si_signo > 0 || !is_of_groups",
        "test_wrapper_signals.py:OfTheJob.test_to_its_group_come_once"),
    "a signal to the caller is the group's": (
        "exporter/wrapper/signal_route.c", "!survived(field, info->si_signo)", "!survived(field, 0)",
        "test_wrapper_signals.py:OfTheJob.test_to_its_parent_reach_the_caller"),
    "what comes with the job's end is lost": (
        "exporter/wrapper/wrapper.c", "	signal_route_end(&route);", "	(void)signal_route_end;",
        "test_wrapper_signals.py:OfTheJob.test_right_before_its_end_reach_the_caller"),
    "what a signal carries is lost": (
        "exporter/wrapper/signal_route.c", "	if (to > 0 && info->si_code < 0 &&", "	if (to == 0 && info->si_code < 0 &&",
        "test_wrapper_signals.py:Queued"),
    "timers end with the caller": (
        "exporter/wrapper/job_signals.c", "	go_on_with_timers();", "	(void)go_on_with_timers;",
        "test_wrapper_signals.py:KeptByExecve.test_is_there_though_fork_does_not_keep_it"),
    "the job outlives its caller": (
        "exporter/wrapper/inherited.c", "	if (!l->death_signal)", "	if (l->parent)",
        "test_wrapper_signals.py:KeptByExecve.test_is_the_death_that_the_caller_asked_for"),
    "a priority ends with the caller": (
        "exporter/wrapper/inherited.c", "	if (l->schedule.size)", "	if (!l->parent)",
        "test_wrapper_signals.py:KeptByExecve.test_is_there_though_fork_does_not_keep_it"),
    "a disk is waited for however long it takes to read": (
        "exporter/lifecycle/exit_deadline.c", "(double)EXIT_DEADLINE_SECONDS / SLICES", "(double)3600 / SLICES",
        "test_faults_ending.py:Ending.test_a_disk_that_hangs_at_reading_does_not_hold_it_up"),
    "nobody makes a folder that was deleted": (
        "exporter/history/batch_writer.c", "	int code = path_make_folder(w->config->path, e);", "	int code = 0;", "unit:historian"),
    "what makes room is forgotten": ("exporter/history/event_queue.c", ": earlier + later;", ": later;", "unit:event_queue"),
    "room for eight samples": (
        "exporter/history/historian.c", "h->queue.max_samples = HISTORIAN_QUEUE_SAMPLES;", "h->queue.max_samples = 8;",
        "test_faults_history.py:Stalled.test_scrapes_stay_fast_and_nothing_is_lost"),
    "the sampler waits for the disk": (
        "exporter/history/historian.c", "	hand_over(h, first);", "	hand_over(h, first);\n	historian_flush(h, 60);",
        "test_faults_history.py:Stalled.test_scrapes_stay_fast_and_nothing_is_lost"),
    "looks take all of a CPU": (
        "exporter/sampling/sampler.c", "now_read().mono.ns + (int64_t)cpu, interval);", "now_read().mono.ns, interval);",
        "test_faults_time.py:Time.test_looks_that_cannot_keep_up_take_half_a_cpu_and_scrapes_have_their_turn"),
    "who could not be read once is not searched for": (
        "collectors/process/tree.c", "		t->births = 0;", "		t->births += 0;", "unit:jobs_faults"),
    "what could not be read once is not due": (
        "collectors/process/tree.c", "		if (member_read_pss(m, h, &cost))", "		if (member_read_pss(m, h, &cost) || any)",
        "unit:jobs_faults"),
    "a journal that dies with who writes": (
        "exporter/history/open.c", '"PRAGMA journal_mode = WAL;"', '"PRAGMA journal_mode = MEMORY;"', "unit:history_kill"),
    "what was not asked for is kept": (
        "collectors/process/tree_dead.c", "	return is_decided(t, b, i) ? kept_part",
        "	return b->heir ? kept_part", "unit:process_tree_property"),
    "a zombie has all of its children": (
        "collectors/process/tree_dead.c", " && !t->member[heir].zombie", "", "unit:process_tree_property"),
    "who may be counted twice is not asked for": (
        "collectors/process/tree_dead.c", "(parent > i || b[parent].read || b[parent].doubted)", "parent > i",
        "unit:process_tree_property"),
    "who was waited for is counted for itself, too": (
        "collectors/process/tree_dead.c", "	return is_decided(t, b, i) ? kept_part(", "	return is_decided(t, b, i) ? 1 + 0 * kept_part(",
        "test_faults_machine.py:Processes.test_children_that_come_and_go_leave_their_time_and_nothing_else"),
    "who has gone is counted at each look": (
        "collectors/accounting/lineage.c", "	remove_where(l, is_gone, 0);", "	if (l->n > 100000)\n		lineage_remove_where(l, is_gone, 0);",
        "test_faults_machine.py:Processes.test_children_that_come_and_go_leave_their_time_and_nothing_else"),
    "in any number of runs": (
        "collectors/process/member_limit.c", "	if (*runs >= MEMBER_LIMIT_NESTED_MAX)", "	if (*runs > 100000)",
        "unit:jobs_nested"),
    "another writer's lock is no reason to try again": (
        "exporter/history/historian.c", "	h->pause = next_pause(h, failed && !at_once);",
        "	if (failed)\n		event_queue_done(&h->queue);\n	h->pause = next_pause(h, failed && !at_once);",
        "test_faults_history.py:Locked.test_another_writer_stalls_no_scrape_and_loses_nothing"),
    "a deleted file is written on": (
        "exporter/history/tables.c", "	if (!history_moved(h))\n		return 0;\n	return err_set",
        "	if (!history_moved(h) || h->file.writes)\n		return 0;\n	return err_set",
        "test_faults_history.py:Replaced.test_deleted_while_a_run_goes_on"),
    "a truncated file is written on": (
        "exporter/history/tables.c", "		code = history_check_intact(h, e);", "		code = 0;",
        "test_faults_history.py:Damaged.test_while_a_wrapper_s_job_goes_on"),
    "a truncated -shm file ends the wrapper": (
        "exporter/history/open.c", "	history_survive_lost_pages();", "",
        "test_faults_history.py:Damaged.test_while_a_wrapper_s_job_goes_on"),
    "a broken file is written at the end": (
        "exporter/history/open.c", "history_check_intact(h, NULL) == -EBADMSG", "h->memory", "unit:history_intact"),
    "the -wal file of an empty file is dropped": (
        "exporter/history/open.c", "	if (code == 0 && emptied)", "	if (code > 0 && emptied)", "unit:history_intact"),
    "a deleted -wal file takes runs with it": (
        "exporter/history/open.c", "	if (!history_moved(h))\n		sqlite3_wal", "	if (history_moved(h))\n		sqlite3_wal", "unit:history_intact"),
    "a folder that may not be searched is left": (
        "exporter/history/sql.c", " || errno != EACCES)", " || errno > 0)",
        "test_faults_history.py:Damaged.test_who_may_not_reach_it_any_more_writes_on"),
    "the exit code waits for a full disk": (
        "exporter/main.c", "		.hasty = app->self == NULL,\n", "",
        "test_faults_history.py:SmallDisk.test_full_at_the_end_holds_up_no_exit_code"),
    "a slow write is given up": (
        "exporter/history/historian.h", "HISTORIAN_HANG_SECONDS   3.0", "HISTORIAN_HANG_SECONDS   0.4",
        "test_faults_history.py:Unwritable.test_a_write_that_takes_two_seconds_is_waited_for"),
    "a job starts when its history can be opened": (
        "exporter/history/historian.h", "HISTORIAN_OPEN_SECONDS 0.2", "HISTORIAN_OPEN_SECONDS 30",
        "test_faults_history.py:Unwritable.test_a_disk_that_hangs_from_the_beginning"),
    "a lock at the beginning costs the run": (
        "exporter/history/historian.c", "? -EBUSY : -ENOSPC);", "? -EINPROGRESS : -ENOSPC);", "unit:historian_stop"),
    "a full disk keeps a server from starting": (
        "exporter/history/historian.c", "? -EBUSY : -ENOSPC);", "? -EBUSY : -EINPROGRESS);",
        "test_faults_history.py:SmallDisk.test_a_server_starts_on_a_full_disk_and_recovers"),
    "who writes in turn is not waited for": (
        "exporter/history/open.c", "		h->lock_wait.wrote = now;", "		h->lock_wait.wrote = tries ? h->lock_wait.wrote : now;",
        "test_faults_history.py:Unwritable.test_a_lock_of_others_who_write_is_waited_for"),
    "damage is left to the reader": (
        "exporter/history/read_failed.c", "		historian_suspect(app->historian);", "		(void)historian_suspect;",
        "test_faults_history.py:Replaced.test_damage_that_only_a_reader_meets_is_mended"),
    "a FIFO is opened": (
        "exporter/history/sql.c", "	if (!S_ISREG(st.st_mode))", "	if (S_ISSOCK(st.st_mode))", "unit:history_open"),
    "a file of another program is set aside": (
        "exporter/history/open.c", "code == -EBADMSG && !h->memory && is_named_by_mistake(h)", "false && is_named_by_mistake(h)",
        "unit:history_damage"),
    "views are read": (
        "exporter/history/sql.c", "SQLITE_DBCONFIG_ENABLE_VIEW, 0", "SQLITE_DBCONFIG_ENABLE_VIEW, 1", "unit:history_damage"),
    "a schema of the future is taken for ours": (
        "exporter/history/schema.c", "	if (version > SCHEMA_VERSION)", "	if (version > SCHEMA_VERSION + 1000000)",
        "test_history.py:BrokenFile"),
    "a schema below zero is one of ours": (
        "exporter/history/schema.c", "	if (version < 0)", "	if (version < INT64_MIN / 2)", "unit:history_damage"),
    "no end without a thread to watch it": (
        "exporter/lifecycle/exit_deadline.c", "	exit_deadline_reached(l);\n	return NULL;", "	exit_deadline_reached(l);\n	_exit(1);",
        "test_faults_limits.py:Limits.test_in_a_full_group_of_root"),
    "a device is opened in a control group": (
        "collectors/base/tree.c", "where.f_type != CGROUP_SUPER_MAGIC && where.f_type != CGROUP2_SUPER_MAGIC",
        "where.f_type == 1", "unit:base"),
    "a PID is the process": (
        "collectors/process/member.c", "(code == 0 && s.start_ticks != m->start_ticks)", "(code == 1)",
        "test_faults_machine.py:Reuse"),
    "a circle of parents is walked": (
        "collectors/process/tree.c", "	if (process_tree_find(t, pid) != PROCESS_TREE_NONE)",
        "	if (t->n >= 100)", "unit:jobs_odd"),
    "durations by the wall clock": (
        "collectors/followed/jobs.c", "	return mono_seconds_between(t->started_mono,",
        "	if (h->now.wall.ns)\n		return (double)(h->now.wall.ns - h->now.mono.ns) / 1e9;\n	return mono_seconds_between(t->started_mono,",
        "test_faults_time.py:Time.test_clock_that_steps_changes_no_duration_and_loses_no_sample"),
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
        "collectors/process/facts.c", "#define ENVIRONMENT_MAX      (8u << 20)", "#define ENVIRONMENT_MAX      (1u << 18)",
        "unit:process_facts"),
    "guest time is told twice": (
        "collectors/machine/cpu.c", "			counter_follow(&c->mode[i], f.ticks[i]) /", "			(double)f.ticks[i] /",
        "unit:collect_cpu"),
    "names as they came": (
        "exporter/site/exposition.c", "		buf_addc(out, '\\\\');\n		buf_addc(out, *s == '\\n' ? 'n' : *s);",
        "		buf_addc(out, *s);", "unit:exposition"),
    "what costs without end lacks a rate": (
        "recommender/servers/pick.c", "unknown ? EXCLUDED_CURRENCY", "!(value < lowest) ? EXCLUDED_CURRENCY", "unit:servers"),
    "jobs are never forgotten": (
        "exporter/history/prune.c", "		if (code == 0 && step.samples_left > 0 && doomed->job[i])",
        "		if (code == 0 && step.samples_left > 0 && doomed->job[i] < 0)", "unit:history_prune"),
    "each process believes its clock": (
        "exporter/history/age_clock.c", "	c = kept;", "	c = AGE_CLOCK_INIT;", "unit:age_clock"),
    "what another exporter is to hand on is dropped": (
        "exporter/history/shared_settings.c", "is_believed(n.forwards_at, now) ? RECEIVER_CENTRAL : 0;", "0;",
        "unit:history_prune"),
    "read once": ("exporter/site/site.c", "	if (code == -ESTALE) {", "	if (code == -ESTALE && !route) {", "unit:site"),
    "a run that fails holds up all": (
        "exporter/forward/retry_list.c", "#define FAILURES_TO_GIVE_WAY 3", "#define FAILURES_TO_GIVE_WAY 3000000",
        "test_forward.py:Forward.test_a_run_that_always_fails_holds_up_no_other"),
    "a second signal waits, too": (
        "exporter/core/worker.c", "	} while (!w->ended && left > 0 && !thread_hurry(hurry));", "	} while (!w->ended && left > 0);",
        "test_forward.py:Forward.test_a_second_signal_ends_the_waiting"),
    "a second server records, too": (
        "exporter/history/server_lock.c", "	if (fcntl(*ret, F_OFD_SETLK, &lock) == 0", "	if (fcntl(*ret, F_OFD_SETLK, &lock) <= 0",
        "test_history.py:Shared.test_of_two_servers_on_one_machine_one_records"),
    "who hangs in exec is waited for": (
        "collectors/base/tree_guard.c", "size > 0 && code == 0;", "size > 0 && code > size;",
        "test_faults_hanging.py:Hanging.test_servers_answer_begin_and_end"),
    "who maps a file is waited for": (
        "collectors/base/tree_guard.c", "	return *waits || threads > 1;", "	return !*waits && threads == 0;",
        "test_faults_hanging.py:Hanging.test_servers_answer_begin_and_end"),
    "what is kept open is read of whoever hangs": (
        "collectors/process/process.c", "		n = tree_answers(h->proc, path) ?", "		n = k->fd >= 0 ?",
        "test_faults_hanging.py:Hanging.test_a_job_that_hangs_is_followed_to_its_end"),
    "programs are read by the sampler itself": (
        "collectors/base/tree_guard.c", '{"exe", "root", "cwd"}', '{"root", "cwd"}',
        "test_faults_files.py:Files.test_a_program_that_never_answers_is_not_read"),
    "layers of a process are asked by the sampler itself": (
        "collectors/base/tree_guard.c", '{"exe", "root", "cwd"}', '{"exe", "cwd"}',
        "test_faults_files.py:Files.test_layers_that_do_not_answer_are_not_waited_for"),
    "files that name jobs are read by the sampler itself": (
        "collectors/base/tree_guard.c", "	if (is_of_its_files(r, file))", "	if (is_of_its_files(r, file) && !r->foreign)",
        "test_faults_files.py:Files.test_a_job_named_below_layers_is_found_when_they_answer"),
    "who was left out is not looked at again": (
        "exporter/discovery/identify.c", ".left_out != left_out)", ".left_out < left_out)",
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
        "collectors/followed/run_disk.c", "	d->hash = 0;\n", "", "unit:run_place"),
    "what others free hides what a run writes": (
        "collectors/followed/run_disk.c", "d->fallen > (double)RUN_DISK_FREED_BYTES", "d->fallen < 0", "unit:run_place"),
    "what a run deleted at once counts for ever": (
        "collectors/followed/run_disk.c", "	d->cancelled = writes.cancelled - d->of_others;\n", "", "unit:run_place"),
    "a disk of the machine is a run's own": (
        "collectors/followed/run_disk.c", " && !has_mounted(&o->of_init, m->device);", ";", "unit:run_place"),
    "a command that ends at once is charged with the whole machine": (
        "collectors/accounting/group_owner.c", "	return process_read_stat(host, pid, &s) < 0 || s.exiting;",
        "	return process_read_stat(host, pid, &s) < 0;", "unit:cgroup_run"),
    "switches of threads go with them": (
        "collectors/process/member.c", "			*ended += *living - now[i];", "			*ended += 0;", "unit:process_member"),
    "forks refused to others before are the run's": (
        "collectors/cgroup/task_limit.c", "cgroup_same_place(p, own) ? 0 : refused(p, h)", "own && h ? 0 : 0", "unit:accounts_group"),
    "a program that did not answer once is never read": (
        "collectors/followed/run_binary.c", "	if (n == -ETIMEDOUT)", "	if (n == -ETIMEDOUT && !h)", "unit:run_binary"),
    "what nobody waits for is freed at once": (
        "exporter/sampling/requests.c", "		r->abandoned = true;", "		free(r);", "unit:sampler"),
    "a job that cannot be counted waits for the sampler": (
        "exporter/wrapper/wrapper.c", '\t\t\te.text, NULL);\n\tint code = run_command(', '\t\t\te.text, NULL), wrapper_become(command);\n\tint code = run_command(',
        "test_faults_ending.py:Ending.test_a_job_begins_where_no_signal_ends_the_waiting_of_the_sampler"),
    "what was given up is done later": ("exporter/sampling/requests.c", "	*at = r->next;", "	*at = r->next ? r->next : *at;", "unit:sampler"),
    "who waits already waits on": (
        "exporter/sampling/requests.c", "		pthread_cond_broadcast(&s->ticked);\n	}\n	int code", "	}\n	int code", "unit:sampler"),
    "what is asked about goes with who asked": ("exporter/sampling/requests.c", "	shared_hold(context);\n", "", "unit:sampler"),
    "a signal waits for the sampler": (
        "exporter/sampling/requests.c", "		if (is_pending(p.signals))", "		if (is_pending(p.signals) && !r)", "unit:sampler"),
    "a run that was given up is recorded": (
        "exporter/sampling/requests.c", "	if (!is_awaited(s, r)) {", "	if (!is_awaited(s, r) && !r) {", "unit:sampler"),
    "a job's end waits for a sampler that hangs": (
        "exporter/sampling/sampler.h", "#define SAMPLER_PATIENCE_SECONDS 10", "#define SAMPLER_PATIENCE_SECONDS 1000",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "runs of a pod stay open where the sampler hangs": (
        "exporter/main.c", "	if (l->app->self)\n", "	if (!l->app)\n",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "what the historian was not to do is done later": (
        "exporter/history/historian.c", "		*place_of(h, c) = c->next;\n", "		return h ? code : 0;\n", "unit:historian_do"),
    "what the historian does is freed under it": (
        "exporter/history/historian.c", "	if (code == -EINPROGRESS && !c->done) {", "	if (code == -EINPROGRESS && c->done) {",
        "unit:historian_do"),
    "what is to be handed on has all the time": (
        "exporter/main.c", "#define LAST_SECONDS 2.0", "#define LAST_SECONDS 3600.0",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "a last look at work is cut off": (
        "exporter/main.c", "			exit_deadline_works(begun, ", "			exit_deadline_works(NULL, ",
        "test_faults_ending.py:Ending.test_a_sampler_that_hangs_holds_up_no_job_and_no_end"),
    "the end of a wrapper waits for a dead server": (
        "exporter/history/historian.c", "h->loose = h->remote;", "h->loose = false;",
        "test_faults_ending.py:DeadDisk.test_while_the_job_runs"),
    "the end of a wrapper waits for a dead server that it reads from": (
        "exporter/wrapper/wrapper.c", "	w.worker.loose = historian_is_loose(app->historian);\n", "",
        "test_faults_ending.py:DeadDisk.test_after_the_run_was_written"),
    "a reader of a wrapper waits for a dead server": (
        "exporter/forward/forwarder.c", "	f->worker.loose = historian_is_loose(f->options.historian);\n", "",
        "test_faults_ending.py:DeadDisk.test_a_wrapper_with_readers"),
    "a server does not start while its file server is dead": (
        "exporter/history/historian.c", "	return !h->loose || silent_seconds(h, now) <= HISTORIAN_HANG_SECONDS;", "	return true;",
        "test_faults_ending.py:DeadDisk.test_a_server_starts_without_it"),
    "a server that is idle does not notice a dead file server at its end": (
        "exporter/history/historian.c", "!(h->loose && (h->hurry || !isinf(h->attempt_at)));", "true;",
        "test_faults_ending.py:DeadDisk.test_a_server_that_only_waits"),
    "the bound forgets the threads of a process that nobody may trace": (
        "collectors/accounting/lineage.c", "(e->one_thread ? 1 : l->cpus);", "1;", "unit:lineage_tails"),
    "requests wait for an answer that hangs": (
        "exporter/http/slow_queue.c", "	if (hangs(q)) {", "	if (false) {", "unit:slow_queue"),
    "a thread that hangs keeps the pipes of the wrapper open": (
        "exporter/core/loose_thread.c", "			dup2(nothing, (int)fd);", "			(void)nothing;", "unit:loose_thread"),
    "a report at work is cut off": (
        "exporter/core/worker.c", "silent = used > before ? 0 : silent + 1;", "silent++;",
        "test_faults_ending.py:Ending.test_a_disk_that_hangs_at_reading_does_not_hold_it_up"),
    "a control group that comes too late stays": (
        "exporter/wrapper/run_accounts.c", "	run_accounts_close(&request->accounts);\n	free(request);", "	free(request);",
        "test_faults_ending.py:Ending.test_a_job_begins_where_no_signal_ends_the_waiting_of_the_sampler"),
    "a stopped terminal is a disk that hangs": (
        "exporter/wrapper/wrapper.c", "		write_report(w->app, w->job);\n	return WORKER_END;",
        "		write_report(w->app, w->job);\n	summary_print(&w->text);\n	return WORKER_END;",
        "test_faults_ending.py:Ending.test_a_terminal_that_is_stopped_is_waited_for"),
    "who does not answer is forgotten": (
        "collectors/process/process.c", "	return code == -ETIMEDOUT;", "	return code > 0;", "unit:process_book"),
    "a sleeping machine's clock": (
        "collectors/base/clock.c", "clock_read_ns(CLOCK_BOOTTIME)", "clock_read_ns(CLOCK_MONOTONIC)",
        "test_faults_time.py:Time.test_suspended_machine_is_one_long_tick_and_no_burst"),
    "what several map is mapped several times": (
        "collectors/process/tree.c", "t->alone ? m->kind_bytes[MEMORY_SHMEM] : member_shmem(m, h)", "m->kind_bytes[MEMORY_SHMEM]",
        "unit:jobs_memory"),
    "a limit is what is asked for": ("recommender/sizing/memory.c", "#define LIMIT_SHARE 1.05", "#define LIMIT_SHARE 0.05", "unit:strategies"),
    "links of a process are followed": (
        "collectors/base/tree_foreign.c", "O_PATH | O_NOFOLLOW | O_CLOEXEC", "O_PATH | O_CLOEXEC", "unit:foreign"),
    "another's file is read for a process": (
        "collectors/base/tree_foreign.c", "!S_ISREG(w.st.st_mode) || !is_known_to_process(&w)",
        "!S_ISREG(w.st.st_mode) || (!is_known_to_process(&w) && !w.st.st_mode)",
        "test_faults_files.py:Files.test_a_link_leads_to_no_secret"),
    "a file server that never answers is asked": (
        "collectors/mounts.c", "	if (strncmp(m->type, \"fuse\", 4) == 0)\n		return MOUNT_REMOTE;",
        "	if (strncmp(m->type, \"fuse\", 4) == 0)\n		return MOUNT_LOCAL;",
        "test_faults_files.py:Files.test_a_folder_that_never_answers_is_not_asked"),
}

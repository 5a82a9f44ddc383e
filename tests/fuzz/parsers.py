"""Which fuzz target is for what: a file, or those functions of it that read what comes from outside."""
import hashlib
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]

PARSERS = {
    "arguments": ("exporter/arguments.c", "exporter/target.c"),
    "cache": ("exporter/catalogue_cache.c: cache_version read_origin catalogue_cache_origin catalogue_cache_load unpack "
              "catalogue_cache_page",),
    "captured": ("exporter/captured.c", "collectors/recognise_part.c"),
    "catalogue_csv": ("recommender/catalogue_csv.c", "recommender/fields.c: check_text number_from_text set_enum "
                      "name_find field_find"),
    "catalogue_file": ("exporter/catalogue_file.c", "exporter/catalogue_dump.c", "exporter/sql_end.c",
                       "exporter/catalogue_scdata.c",
                       "recommender/fields.c: field_set_text field_set_number",
                       "recommender/catalogue_build.c: catalogue_add_score"),
    "catalogue_json": ("recommender/catalogue_json.c",),
    "changes": ("exporter/site_change.c: take_value next_part matches find site_change_at site_change_takes_long is_from_elsewhere "
                "is_json refuse may_by_token needs_token is_acceptable fill site_change", "exporter/hosts.c", "exporter/body.c", "exporter/run_message.c",
                "exporter/token.c", "exporter/post_jobs.c: read_announcement read_pid read_labels is_word bad_label"),
    "cloud": ("exporter/cloud.c", "exporter/http_answer.c"),
    "collectors": ("collectors/cpu.c", "collectors/disk.c", "collectors/energy.c", "collectors/load.c",
                   "collectors/memory.c", "collectors/mounts.c: read_text octal unescape word parse_line mounts_read "
                   "path_within covered by_id mounts_reach mount_kind_of",
                   "collectors/network.c: kind_by_type master_of kind_of classify parse_net_dev network_stop",
                   "collectors/interfaces.c", "collectors/pressure.c", "collectors/server.c", "collectors/cgroup.c", "collectors/cgroup_path.c",
                   "collectors/filesystem.c"),
    "drm_fdinfo": ("collectors/drm_fdinfo.c",),
    "environment": ("exporter/pod.c",
                    "exporter/service.c: service_notify read_number is_for_us service_sockets"),
    "forward": ("exporter/forward_answer.c",),
    "history": ("exporter/history_read.c", "exporter/history_series.c", "exporter/history_open.c: history_check "
                "open_for_writing move_all set_aside", "exporter/aside.c: name_aside aside_move",
                "exporter/history_overview.c", "exporter/history_schema.c", "exporter/history_sql.c",
                "exporter/history_agree.c", "exporter/history_clock.c", "exporter/history_prune.c",
                "exporter/history_thin.c",
                "exporter/history_write.c: next_sample find_run read_recorder find_orphans",
                "exporter/run_json.c: put_words"),
    "job_rules": ("exporter/job_rules.c: add_condition each_pair read_variable read_environment read_label "
                  "read_labels has_group add_groups check_template check_rule read_rule read_rules job_rules_parse",
                  "exporter/job_rules_match.c"),
    "jobs": ("collectors/process.c", "collectors/process_facts.c", "collectors/process_book.c",
             "collectors/process_fds.c", "collectors/process_file.c", "collectors/cgroup_files.c", "collectors/cgroup_own.c", "collectors/quota.c",
             "collectors/run_network.c: read_traffic look_at_interface ours_is_a_containers is_due follow run_network_look",
             "collectors/run_disk.c", "collectors/gpu_drm.c", "collectors/gpu_users.c",
             "collectors/gpu_pid.c"),
    "keeper": ("exporter/keeper.c", "exporter/keeper_call.c", "exporter/answer.c"),
    "kernel": ("collectors/machine_cpu.c: times_of machine_cpu_parse machine_cpu_spent add_cpu machine_steal_look "
               "machine_cpu_stolen", "collectors/delays.c: add_schedstat add_thread read_files",
               "exporter/self.c: stat_field boot_time self_start open_fds add_memory",
               "collectors/run_cgroup.c: run_cgroup_cpu_ns", "collectors/host.c: status_is_of",
               "collectors/cgroup_others.c: others_own_pid", "exporter/inherited.c: children_parse"),
    "negotiate": ("exporter/negotiate.c", "exporter/framing.c"),
    "netlink": ("collectors/netlink.c: bytes_skip number_at bytes_u16 bytes_u32 bytes_u64 padded step netlink_next "
                "netlink_error netlink_attribute", "collectors/taskstats.c: record_read aggregate_read taskstats_parse "
                "taskstats_family", "collectors/process_events.c: event_read translate process_events_parse "
                "process_events_answer"),
    "numbers": ("collectors/base/number.c",),
    "nvml": ("collectors/gpu_nvml_read.c", "collectors/nvml.c: nvml_words nvml_read_memory add_process prepare fetch "
             "written record_pid all_are_pids record_size take_records nvml_list_processes take_samples "
             "nvml_read_utilization"),
    "options": ("exporter/options.c: set set_by_flag from_environment set_collectors set_defaults row_named set_collector read_flag "
                "begin finish options_read "
                "number_with_suffix set_number", "exporter/option_shapes.c", "exporter/listen.c: place_parse",
                "exporter/catalogue_rates.c: rate_parse"),
    "recognise": ("collectors/recognise.c", "collectors/recognise_words.c"),
    "routes": ("exporter/server_parameters.c", "exporter/sizing_parameters.c"),
    "site": ("exporter/site_metrics.c: filter_of is_collector collectors_ok filter_ok wait_of",
             "exporter/site.c: site_arguments dispatch site_answer refuse_method not_found",
             "exporter/site_events.c: position_of"),
    "texts": ("collectors/steady_name.c", "collectors/base/utf8.c", "collectors/base/scan.c",
              "collectors/base/tree_guard_signs.c",
              "collectors/run_binary.c: elf_architecture emulated_architecture"),
    "web_config": ("exporter/web_config.c", "exporter/web_priorities.c", "exporter/yaml.c"),
}


def functions(path):
    """{name: range of its lines}; a function begins at the margin and ends with a brace there."""
    found, name, first = {}, None, 0
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        head = re.match(r"[a-z].*?(\w+)\(", line)
        if head and not line.endswith(";"):
            name, first = head[1], number
        elif line == "}" and name:
            found[name] = range(first, number + 1)
            name = None
    return found


def version(target):
    """Changes with the parsers of a target and with the target itself: time spent on others does not count."""
    digest = hashlib.sha256((ROOT / "tests/fuzz" / f"fuzz_{target}.c").read_bytes())
    for parser in PARSERS[target]:
        path, _, names = parser.partition(": ")
        if names:
            lines, known = (ROOT / path).read_text().splitlines(keepends=True), functions(path)
            for name in names.split():
                digest.update("".join(lines[n - 1] for n in known[name]).encode())
        else:
            digest.update((ROOT / path).read_bytes())
    return digest.hexdigest()[:12]

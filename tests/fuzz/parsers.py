"""Lists the parsers of each fuzz target: a file, or the functions of a file that read text from outside."""
import hashlib
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]

PARSERS = {
    "arguments": ("exporter/api/arguments.c", "exporter/api/request_target.c"),
    "cache": ("exporter/catalogue/cache.c: cache_version read_origin catalogue_cache_origin catalogue_cache_load unpack "
              "catalogue_cache_page",),
    "captured": ("exporter/cli/process_dump.c", "collectors/naming/process_words.c: add_json add_line add_parts recognise_file_part recognise_value_part"),
    "catalogue_csv": ("recommender/catalogue/csv.c", "recommender/catalogue/fields.c: check_text number_from_text set_enum "
                      "catalogue_name_find field_find"),
    "catalogue_file": ("exporter/catalogue/file.c", "exporter/catalogue/sql_dump.c", "exporter/catalogue/scdata.c",
                       "recommender/catalogue/fields.c: field_set_text field_set_number",
                       "recommender/catalogue/build.c: catalogue_add_score"),
    "catalogue_json": ("recommender/catalogue/json.c",),
    "catalogue_pack": ("recommender/catalogue/unpack.c",),
    "changes": ("exporter/site/change.c: take_value next_part matches find_change site_change_at site_change_takes_long is_from_elsewhere "
                "is_json refuse may_by_token needs_token is_acceptable fill_arguments site_change", "exporter/site/host_header.c", "exporter/api/json_body.c", "exporter/forward/run_message.c",
                "exporter/client/bearer_token.c", "exporter/routes/post_jobs.c: read_announcement read_pid read_labels is_word bad_label"),
    "cloud": ("exporter/this_server/vendors.c", "exporter/client/link_local_http.c"),
    "collectors": ("collectors/machine/cpu.c", "collectors/machine/disk.c", "collectors/machine/energy.c", "collectors/machine/load.c",
                   "collectors/machine/memory.c", "collectors/mounts.c: read_text octal unescape next_word parse_line mounts_read "
                   "path_within is_covered by_id mounts_reach mount_kind_of",
                   "collectors/machine/network.c: kind_by_type master_of kind_of classify_devices parse_net_dev network_stop",
                   "collectors/machine/interfaces.c", "collectors/machine/pressure.c", "collectors/machine/server.c", "collectors/cgroup/cgroup.c", "collectors/cgroup/find.c",
                   "collectors/machine/filesystem.c"),
    "drm_fdinfo": ("collectors/gpu/drm_fdinfo.c",),
    "environment": ("exporter/discovery/pod.c",
                    "exporter/lifecycle/systemd.c: systemd_notify read_number is_for_us systemd_sockets"),
    "forward": ("exporter/forward/to_exporter.c: forward_is_refusal forward_is_accepted read_list read_answer",),
    "history": ("exporter/history/read.c", "exporter/history/series.c", "exporter/history/open.c: history_check "
                "open_for_writing move_all set_aside", "exporter/history/quarantine.c: name_aside quarantine_file",
                "exporter/history/schema.c", "exporter/history/sql.c",
                "exporter/history/shared_settings.c", "exporter/history/age_clock.c: load_clock same_time is_kept history_clock", "exporter/history/prune.c",
                "exporter/history/downsample.c", "exporter/history/recent_jobs.c",
                "exporter/history/write.c: next_sample read_recorder find_orphans",
                "exporter/answers/run_json.c: put_words"),
    "import": ("exporter/import/made_run.c", "exporter/import/nextflow.c", "exporter/import/resource_tracker.c",
               "exporter/import/run_lines.c", "exporter/import/sacct.c", "exporter/import/snakemake.c", "exporter/import/table.c",
               "exporter/import/text_lines.c", "exporter/core/times.c"),
    "job_rules": ("exporter/discovery/job_rules.c",),
    "jobs": ("collectors/process/process.c", "collectors/process/facts.c", "collectors/process/process_book.c",
             "collectors/process/named_file.c", "collectors/cgroup/files.c", "collectors/accounting/group_owner.c", "collectors/cgroup/cpu_quota.c",
             "collectors/followed/run_network.c: read_traffic look_at_interface ours_is_a_containers is_due follow_traffic run_network_look",
             "collectors/followed/run_disk.c", "collectors/gpu/drm.c", "collectors/gpu/users.c",
             "collectors/gpu/nvml_pid.c"),
    "json_tree": ("exporter/core/json_tree.c",),
    "keeper": ("exporter/catalogue/keeper.c", "exporter/client/response_headers.c"),
    "kernel": ("collectors/machine/machine_cpu.c: times_of machine_cpu_parse machine_cpu_spent add_cpu machine_steal_look "
               "machine_cpu_stolen", "collectors/process/delays.c: add_schedstat add_thread read_files",
               "exporter/sampling/self_metrics.c: stat_field boot_time self_start open_fds add_memory",
               "collectors/accounting/own_group.c: own_group_cpu_ns", "collectors/host.c: host_status_is_of",
               "exporter/wrapper/inherited.c: inherited_parse_children"),
    "negotiate": ("exporter/site/negotiate.c", "exporter/http/framing.c"),
    "netlink": ("collectors/process/netlink.c: netlink_skip number_at netlink_u16 netlink_u32 netlink_u64 padded_length skip_padded netlink_next "
                "netlink_error netlink_attribute", "collectors/process/taskstats.c: record_read aggregate_read taskstats_parse "
                "taskstats_family", "collectors/accounting/proc_connector.c: event_read translate proc_connector_parse "
                "proc_connector_answer"),
    "numbers": ("collectors/base/number.c",),
    "nvml": ("collectors/gpu/nvml_read.c", "collectors/gpu/nvml.c: nvml_words nvml_read_memory add_process prepare fetch_list "
             "is_written record_pid all_are_pids record_size take_records nvml_list_processes take_samples "
             "nvml_read_utilization"),
    "options": ("exporter/options/options.c: set_option set_by_flag from_environment set_collectors set_defaults row_named set_collector find_flag read_flag "
                "unknown_option unknown_has_value begin_options finish_options options_read complain ignore "
                "duration read_number set_number", "exporter/options/shapes.c",
                "collectors/base/quantity.c: scan_amount split is_suffix quantity_bytes quantity_cores"),
    "owners": ("exporter/kubernetes/object_meta.c", "exporter/kubernetes/owner_chain.c"),
    "recognise": ("collectors/naming/recognise.c", "collectors/naming/process_words.c"),
    "routes": ("exporter/answers/server_parameters.c", "exporter/answers/sizing_parameters.c"),
    "site": ("exporter/site/metrics_page.c: filter_of is_collector collectors_ok filter_ok wait_of",
             "exporter/site/site_reply.c: site_arguments",
             "exporter/site/site.c: dispatch site_answer refuse_method not_found",
             "exporter/site/events.c: position_of"),
    "texts": ("collectors/naming/stable_name.c", "recommender/run_labels.c", "collectors/base/utf8.c", "collectors/base/scan.c",
              "collectors/base/tree_guard.c: statm_in_exec status_may_map",
              "collectors/followed/run_binary.c: run_binary_architecture run_binary_emulated"),
    "web_config": ("exporter/http/web_config.c", "exporter/http/web_tls.c: add_word is_usable add_cipher names_usable web_config_priorities", "exporter/text/yaml.c"),
}


def functions(path):
    """Returns {name: range of its lines}. A function begins at the margin, and ends with a brace there."""
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
    """Returns a version that changes with the parsers of a target and with the target itself. Time spent on other
    versions does not count."""
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

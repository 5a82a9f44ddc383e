#!/usr/bin/python3
"""Tests how the program identifies its cloud server. Doubles of the metadata services run at the real addresses, in a
network namespace of this test. The test runs itself again inside the namespace. If no namespace can be made, the test
is skipped."""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import support

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import metadata_double  # noqa: E402

INSIDE = "TEST_CLOUD_INSIDE"
HERE = {"host": os.uname().nodename}
UNKNOWN = {**HERE, "vendor_id": None, "instance_type": None, "region": None, "zone": None, "allocation": None, "source": None}
# vendor: (texts of DMI, answer of /server)
MACHINES = {
    "aws": ({"sys_vendor": "Amazon EC2", "product_name": "m7i.large"},
            ("aws", "m7i.large", "eu-west-1", "eu-west-1b", "spot")),
    "gcp": ({"sys_vendor": "Google", "product_name": "Google Compute Engine"},
            ("gcp", "n2-standard-4", "europe-west4", "europe-west4-a", "ondemand")),
    "azure": ({"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine",
               "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"},
              ("azure", "Standard_D4s_v5", "westeurope", "2", "spot")),
    "hcloud": ({"sys_vendor": "Hetzner", "product_name": "vServer"}, ("hcloud", None, "nbg1-dc3", "nbg1-dc3", None)),
    "upcloud": ({"sys_vendor": "UpCloud", "product_name": "Server"}, ("upcloud", None, "fi-hel1", None, None)),
    "ovh": ({"sys_vendor": "OpenStack Foundation", "product_name": "OpenStack Nova"},
            ("ovh", "b3-8", "eu-west-par", "eu-west-par-a", None)),
    "alicloud": ({"sys_vendor": "Alibaba Cloud", "product_name": "Alibaba Cloud ECS"},
                 ("alicloud", "ecs.c8a.large", "eu-central-1", "eu-central-1a", None)),
    "vultr": ({"sys_vendor": "Vultr", "product_name": "VC2"}, ("vultr", None, "ewr", None, None)),
}


def answer_of(vendor, source=None):
    return dict(zip(UNKNOWN, (HERE["host"], *MACHINES[vendor][1], source or vendor)))


class Cloud(support.Case):
    def sysfs(self, texts):
        """Makes a /sys that contains only these texts of DMI."""
        folder = self.folder / "sys" / "class" / "dmi" / "id"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text + "\n")
        return f"--path.sysfs={self.folder / 'sys'}"

    def serve_on(self, texts, *flags):
        return self.serve(self.sysfs(texts), *flags)

    def wait_answer(self, server, expected):
        return support.wait_until(lambda: server.get("/server").json == expected, f"/server to answer {expected}")

    def test_each_vendor_is_found_among_all(self):
        """Without DMI all services are queried. Only the service that exists answers, with its own name."""
        for vendor in MACHINES:
            with self.subTest(vendor), metadata_double.MetadataDouble(vendor) as double:
                server = self.serve_on({})
                self.wait_answer(server, answer_of(vendor))
                server.stop()
                self.assertGreater(len(double.asked), 1)

    def test_only_the_vendor_that_dmi_names_is_asked(self):
        for vendor, (texts, _) in MACHINES.items():
            with self.subTest(vendor), metadata_double.MetadataDouble(vendor) as double:
                server = self.serve_on(texts)
                self.wait_answer(server, answer_of(vendor))
                server.stop()
                questions = len(double.asked)
                self.assertLessEqual(questions, 4, double.asked)
            (self.folder / "sys/class/dmi/id/chassis_asset_tag").unlink(missing_ok=True)

    def test_another_machine_asks_nobody(self):
        with metadata_double.MetadataDouble("aws") as double:
            server = self.serve_on({"sys_vendor": "QEMU", "product_name": "Standard PC"})
            support.wait_until(lambda: server.metrics(), "a scrape")
            self.assertEqual(server.get("/server").json, UNKNOWN)
            server.stop()
            self.assertEqual(double.asked, [])

    def test_discovery_can_be_switched_off(self):
        with metadata_double.MetadataDouble("aws") as double:
            server = self.serve_on(MACHINES["aws"][0], "--no-cloud.discovery")
            self.assertEqual(server.get("/server").json, UNKNOWN)
            server.stop()
            self.assertEqual(double.asked, [])

    def test_dmi_alone_tells_what_it_can_while_nobody_answers(self):
        with metadata_double.MetadataDouble("silent"):
            server = self.serve_on(MACHINES["aws"][0])
            self.assertEqual(server.get("/server").json,
                             {**UNKNOWN, "vendor_id": "aws", "instance_type": "m7i.large", "source": "dmi"})
            server.stop()

    def test_openstack_of_somebody_else_is_not_ovh(self):
        with metadata_double.MetadataDouble("other_openstack") as double:
            server = self.serve_on(MACHINES["ovh"][0])
            support.wait_until(lambda: double.asked, "a question")
            self.assertEqual(server.get("/server").json, UNKNOWN)
            server.stop()

    def fastest_run(self, *flags):
        """Returns the seconds of the fastest of three runs of a command that does nothing."""
        def seconds():
            began = time.monotonic()
            done = self.run_job(["true"], flags=[*flags, "--quiet"])
            self.assertEqual(done.returncode, 0, done.stderr)
            return time.monotonic() - began
        return min(seconds() for _ in range(3))

    def test_a_service_that_never_answers_delays_nothing(self):
        """The end of a job does not wait for the answer, which may take a second."""
        sysfs = self.sysfs({})
        with metadata_double.MetadataDouble("silent"):
            self.assertLess(self.fastest_run(sysfs), self.fastest_run(sysfs, "--no-cloud.discovery") + 0.5)

    def test_what_is_said_by_hand_is_taken_and_nobody_is_asked(self):
        with metadata_double.MetadataDouble("aws") as double:
            server = self.serve_on({}, "--server.vendor=hcloud", "--server.type=cx32", "--server.region=fsn1",
                                   "--server.allocation=ondemand")
            expected = {**HERE, "vendor_id": "hcloud", "instance_type": "cx32", "region": "fsn1", "zone": None,
                        "allocation": "ondemand", "source": "option"}
            self.assertEqual(server.get("/server").json, expected)
            server.stop()
            self.assertEqual(double.asked, [])

    def test_metric_and_record_say_where_a_run_ran(self):
        with metadata_double.MetadataDouble("gcp"):
            sysfs = self.sysfs(MACHINES["gcp"][0])
            server = self.serve(sysfs)
            self.wait_answer(server, answer_of("gcp"))
            labels = {"vendor": "gcp", "instance_type": "n2-standard-4", "region": "europe-west4",
                      "zone": "europe-west4-a", "allocation": "ondemand"}
            self.assertEqual(server.metrics()[("rightsize_cloud_info", frozenset(labels.items()))], 1)
            self.assertEqual(self.run_job(["sleep", "0.5"], flags=[sysfs]).returncode, 0)
            run = self.only_run()
            self.assertEqual({k: run[k] for k in ("vendor_id", "instance_type", "region", "zone", "allocation")},
                             {k: v for k, v in answer_of("gcp").items() if k not in ("host", "source")})

    def test_the_command_waits_for_the_answer(self):
        with metadata_double.MetadataDouble("alicloud"):
            support.wait_until(lambda: self.query("server", self.sysfs({})) == answer_of("alicloud"), "the answer")

    def test_the_type_that_a_person_gives_wins(self):
        with metadata_double.MetadataDouble("vultr"):
            server = self.serve_on(MACHINES["vultr"][0], "--server.type=vc2-1c-1gb")
            self.wait_answer(server, {**answer_of("vultr"), "instance_type": "vc2-1c-1gb"})
            server.stop()


def enter():
    """Runs this file again in a network namespace that has the services' addresses."""
    script = " && ".join(["ip link set lo up"] + [f"ip address add {a}/32 dev lo" for a in
                                                  (metadata_double.LINK_LOCAL, metadata_double.ALIBABA)] +
                         ['exec "$0" -B "$@"'])
    for options in (["--net"], ["--map-root-user", "--net"]):
        if subprocess.run(["unshare", *options, "ip", "link"], capture_output=True, check=False).returncode == 0:
            os.execvpe("unshare", ["unshare", *options, "sh", "-c", script, sys.executable, *sys.argv],
                       {**os.environ, INSIDE: "1"})
    print(json.dumps({"skipped": "no network namespace may be made here"}))


if __name__ == "__main__":
    if os.environ.get(INSIDE):
        unittest.main(verbosity=2)
    else:
        enter()

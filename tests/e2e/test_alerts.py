"""A run fails, a real Prometheus fires, a real Alertmanager sends mails, and the mail says what to do."""
import email
import email.policy
import json
import os
import pathlib
import re
import socketserver
import subprocess
import threading

from monitoring import Monitored, for_tests
from support import Process, main, python_job, wait_until

FOLDER = pathlib.Path(__file__).parents[2] / "dashboards" / "prometheus"
JOB = "etl/load"
PAGE, GRAFANA = "https://jobs.example.org/batch", "https://grafana.example.org"


class Conversation(socketserver.StreamRequestHandler):
    """The part of SMTP that is needed to deliver a mail."""

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")

    def take_data(self):
        lines = []
        self.say("354 go on")
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.server.mails.append(email.message_from_bytes(b"".join(lines), policy=email.policy.default))
        self.say("250 taken")

    def handle(self):
        self.say("220 test")
        for line in self.rfile:
            verb = line[:4].upper().strip()
            if verb == b"DATA":
                self.take_data()
            elif verb == b"QUIT":
                self.say("221 bye")
                return
            else:
                self.say("250 test")


class MailServer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Conversation)
        self.mails = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Alerts(Monitored):
    def start_alertmanager(self, mail_server):
        """Starts the example configuration with this mail server and with short intervals."""
        text = (FOLDER / "alertmanager.yml").read_text()
        for pattern, instead in ((r"smtp_smarthost: .*", f"smtp_smarthost: 127.0.0.1:{mail_server.server_address[1]}"),
                                 (r"smtp_require_tls: .*", "smtp_require_tls: false"),
                                 (r"group_wait: .*", "group_wait: 1s"),
                                 (r"group_interval: .*", "group_interval: 1s")):
            text, n = re.subn(pattern, instead, text)
            self.assertGreaterEqual(n, 1, pattern)
        (self.folder / "alertmanager.yml").write_text(text)
        (self.folder / "mail.tmpl").write_text((FOLDER / "mail.tmpl").read_text())
        alertmanager = Process(["prometheus-alertmanager", f"--config.file={self.folder / 'alertmanager.yml'}",
                                f"--storage.path={self.folder / 'alertmanager'}", "--web.listen-address=127.0.0.1:0",
                                "--cluster.listen-address="], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(alertmanager.stop)
        alertmanager.wait_address('"Listening on"')
        return alertmanager

    def watched(self, *flags):
        """Returns a server, a Prometheus that has scraped it, and a mail server that receives the mails of its
        alerts."""
        mail_server = MailServer()
        self.addCleanup(mail_server.server_close)
        self.addCleanup(mail_server.shutdown)
        server = self.serve(*flags)
        prometheus = self.start_prometheus(server, for_tests((FOLDER / "rules.yml").read_text()),
                                           self.start_alertmanager(mail_server))
        wait_until(lambda: self.ask(prometheus, 'up{job="rightsize"}') == 1, "the first scrape")
        return server, prometheus, mail_server

    def show(self, mail):
        """Prints the text of a mail, so that people can read it, too."""
        text = mail.get_body(("plain",)).get_content()
        print("", *(f"{name}: {value}" for name, value in mail.items()), "", text, sep="\n")
        if "MAILS_TO_FILE" in os.environ:
            with open(os.environ["MAILS_TO_FILE"], "a", encoding="utf-8") as file:
                file.write(f"Subject: {mail['Subject']}\n\n{text}\n")
        return text

    def test_an_oom_kill_is_a_ticket_whose_links_answer(self):
        server, prometheus, mail_server = self.watched("--web.allow-changes")
        job = subprocess.Popen(python_job("import sys; sys.stdin.read()"), stdin=subprocess.PIPE)
        self.addCleanup(job.communicate)

        def post(path, body):
            return server.get(path, "POST", json.dumps(body), Content_Type="application/json")

        begun = post("/jobs", {"pid": job.pid, "job_name": JOB})
        wait_until(lambda: self.ask(prometheus, f'rightsize_job_active_runs{{job_name="{JOB}"}}') == 1, "the run to be seen")
        ended = post(f"/runs/{begun.json['run_id']}/finish", {"outcome": "oom_killed", "exit_code": 137})
        self.assertEqual((begun.status, ended.status), (201, 200), begun.text + ended.text)
        mail = wait_until(lambda: next(iter(mail_server.mails), None), "a mail")
        here, text = f"{server.host}:{server.port}", self.show(mail)
        self.assertEqual(mail["Subject"], f"[rightsize warning] A run of {JOB} on {here} was killed because it ran out of memory")
        links = dict(re.findall(r"^(Page|Dashboard|Runbook): +(\S+)", text, re.M))
        self.assertEqual(links, {"Page": f"http://{here}/#/job/etl%2Fload", "Runbook": f"http://{here}/runbook#oom-killed"})
        self.assertRegex(text.splitlines()[2], r"^Within the last 15 minutes, with exit code 137\.( Its newest run peaked at [\d.]+[KM]iB\.)?$")
        self.assertIn('<h2 id="oom-killed">', server.get("/runbook").text)
        self.assertEqual(server.get("/").status, 200)

    def test_a_failed_run_is_mailed(self):
        server, prometheus, mail_server = self.watched(f"--web.external-url={PAGE}/", f"--web.grafana-url={GRAFANA}")
        run = self.start_run(python_job("import sys; sys.stdin.read(); sys.exit(3)"), JOB, stdin=subprocess.PIPE)
        wait_until(lambda: self.ask(prometheus, f'rightsize_job_active_runs{{job_name="{JOB}"}}') == 1, "the run to be seen")
        self.assertEqual(mail_server.mails, [])
        run.process.stdin.close()
        run.process.stdin = None
        self.assertEqual(run.wait(), 3)
        mail = wait_until(lambda: next(iter(mail_server.mails), None), "a mail")

        here = f"{server.host}:{server.port}"
        self.assertEqual(mail["Subject"], f"[rightsize warning] A run of {JOB} on {here} failed with exit code 3")
        self.assertEqual((mail["To"], mail["From"]), ("team@example.org", "rightsize@example.org"))
        text = self.show(mail)
        for expected in (f"A run of {JOB} on {here} failed with exit code 3", f"Page:      {PAGE}/#/job/etl%2Fload",
                         f"Dashboard: {GRAFANA}/d/rightsize-job/job?var-job_name=etl%2Fload",
                         f"Runbook:   {PAGE}/runbook#run-failed", "Severity:  warning",
                         "Alert:     RightsizeRunFailed, since 2"):
            self.assertIn(expected, text.splitlines() if "://" in expected else text)
        self.assertIn('<h2 id="run-failed">', server.get("/runbook").text)
        self.assertEqual({word for word in re.findall(r"\S*/\S*", text) if not word.startswith("http")}, {JOB})
        self.assertIsNone(mail.get_body(("html",)))


if __name__ == "__main__":
    main()

"""Starts a real Prometheus that scrapes the server every second, for tests that query it."""
import subprocess
import urllib.parse

from support import Case, Process, wait_until

CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: {rule_files}
alerting: {{alertmanagers: [{{static_configs: [{{targets: {alertmanagers}}}]}}]}}
scrape_configs:
- job_name: rightsize
  static_configs: [{{targets: ['{host}:{port}']}}]
"""


class Monitored(Case):
    def start_prometheus(self, server, rules=None, alertmanager=None):
        """rules: the text of a rule file."""
        rule_file = self.folder / "rules.yml"
        if rules:
            rule_file.write_text(rules)
        file = self.folder / "prometheus.yml"
        file.write_text(CONFIGURATION.format(
            host=server.host, port=server.port, rule_files=[str(rule_file)] if rules else [],
            alertmanagers=[f"{alertmanager.host}:{alertmanager.port}"] if alertmanager else []))
        prometheus = Process(["prometheus", f"--config.file={file}", f"--storage.tsdb.path={self.folder / 'tsdb'}",
                              "--web.listen-address=127.0.0.1:0"], stdin=subprocess.DEVNULL, cwd=self.folder)
        self.addCleanup(prometheus.stop)
        prometheus.wait_address('"Listening on"')
        wait_until(lambda: prometheus.said("ready to receive web requests"), "Prometheus to be ready")
        return prometheus

    def results(self, prometheus, query, **parameters):
        """Returns the results of a query: [{"metric": labels, "value": [time, text]} ...]."""
        answer = prometheus.get("/api/v1/query?" + urllib.parse.urlencode({"query": query, **parameters})).json
        self.assertEqual(answer["status"], "success", (query, answer))
        return answer["data"]["result"]

    def ask(self, prometheus, query):
        """Returns the value of a query with one result, or None."""
        result = self.results(prometheus, query)
        self.assertLessEqual(len(result), 1, result)
        return float(result[0]["value"][1]) if result else None


def for_tests(rules):
    """Returns the rules with an evaluation every second, and with alerts that fire at once."""
    lines = rules.splitlines()
    return "\n".join("    interval: 1s" if line.startswith("    interval:") else line
                     for line in lines if not line.startswith("        for:"))

#!/usr/bin/python3
"""The completions of bash, zsh and fish. Tests of zsh and fish run only where these are installed."""
import pathlib
import shutil
import subprocess
import unittest

import support
from support import EXPORTER

NAMES = ("etl/load", "etl/transform", "it's $(touch owned) `touch owned`", "a * b", "a:b=c")
OWN = ("--format=", "--color=", "--output=")


class Completion(support.Case):
    def setUp(self):
        super().setUp()
        for name in NAMES:
            self.run_job(["true"], job_name=name)
        self.environment.update(RIGHTSIZE_HISTORY_PATH=self.history, PATH=f"{self.folder}:/usr/bin:/bin")
        (self.folder / "rightsize-exporter").symlink_to(pathlib.Path(EXPORTER).resolve())

    def printed(self, *command):
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment, cwd=self.folder,
                                stdin=subprocess.DEVNULL, timeout=support.DEADLINE)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertFalse((self.folder / "owned").exists())
        return result.stdout.splitlines()

    def bash(self, *words):
        """Returns the words that bash offers for the last word. readline splits "--name=value" into three."""
        return self.printed("bash", "-c", f"source <('{EXPORTER}' manual bash); COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
                            ' _rightsize_exporter; printf "%s\\n" "${COMPREPLY[@]}"', "bash", "rightsize-exporter", *words)

    def zsh(self, *words):
        """Returns the words that zsh offers. It hands "--name=value" to the completion as one word. compinit cannot run without a terminal, so this does
        what bashcompinit does around the function."""
        return self.printed("zsh", "-fc", f"autoload -U compinit; compinit -D; source <('{EXPORTER}' manual zsh)\n"
                            'emulate sh; setopt kshglob noshglob braceexpand ksharrays; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
                            '_rightsize_exporter; printf "%s\\n" "${COMPREPLY[@]}"', "zsh", "rightsize-exporter", *words)

    def fish(self, line):
        script = f"'{EXPORTER}' manual fish | source; complete -C 'rightsize-exporter {line}'"
        return [word.partition("\t")[0] for word in self.printed("fish", "--no-config", "-c", script)]

    def test_bash_completes_names_of_jobs_and_runs_and_never_executes_them(self):
        self.assertEqual(sorted(self.bash("runs", "--job-name", "=", "etl/")), ["etl/load ", "etl/transform "])
        self.assertEqual(self.bash("runs", "--job-name", "etl/l"), ["etl/load "])
        self.assertEqual(len(self.bash("runs", "--job-name", "=")), len(NAMES))
        runs = sorted(run["run_id"] + " " for name in NAMES for run in self.query("runs", f"--job-name={name}")["runs"])
        self.assertEqual(sorted(self.bash("report", "--run", "=", "")), runs)

    def test_names_of_jobs_arrive_as_they_are(self):
        for shell in (self.bash, self.zsh) if shutil.which("zsh") else (self.bash,):
            for name in NAMES:
                quoted, = shell("runs", "--job-name", "".join("\\" + character for character in name[:-1]))
                self.assertEqual(self.printed("bash", "-c", f"printf %s {quoted}"), [name])

    def test_bash_completes_a_value_in_one_word(self):
        self.assertEqual(self.bash("runs", "--job-name=etl/l"), ["--job-name=etl/load "])
        self.assertEqual(self.bash("jobs", "--color=a"), ["--color=auto ", "--color=always "])
        (self.folder / "web.yml").touch()
        self.assertEqual(self.bash("serve", "--web.config.file=we"), ["--web.config.file=web.yml"])

    def test_names_of_files_may_have_blanks(self):
        for name in ("a b.yml", "a *.yml"):
            (self.folder / name).touch()
        for shell in (self.bash, self.zsh) if shutil.which("zsh") else (self.bash,):
            self.assertEqual(sorted(shell("rules", "check", "--jobs.rules", "a ")), ["a *.yml", "a b.yml"])
        self.assertEqual(sorted(self.bash("run", "--", "a ")), ["a *.yml", "a b.yml"])

    def test_bash_completes_words_after_a_command(self):
        self.assertEqual(self.bash("catalogue", "u"), ["update "])
        self.assertEqual(self.bash("rules", "c"), ["check ", "capture "])
        self.assertEqual(self.bash("help", "re"), ["recommend ", "report "])
        self.assertEqual(self.bash("help", "cat"), ["catalogue "])
        self.assertEqual(self.bash("manual", "z"), ["zsh "])
        self.assertEqual(self.bash("ver"), ["version "])
        self.assertEqual(self.bash("--help", "=", ""), ["all "])
        self.assertEqual(self.bash("recommend", "--help=a"), ["--help=all "])

    def test_bash_completes_the_flags_of_every_query(self):
        for command in ("recommend", "jobs", "runs", "stats", "servers"):
            for flag in OWN:
                self.assertIn(flag, self.bash(command, flag[:-2]), command)
        self.assertEqual(self.bash("recommend", "--expl"), ["--explain "])
        self.assertNotIn("--explain ", self.bash("jobs", "--"))
        self.assertEqual(self.bash("jobs", "--format", "="), ["json ", "text ", "yaml ", "csv "])
        self.assertEqual(self.bash("recommend", "--format", "=", "y"), ["yaml "])
        self.assertEqual(self.bash("recommend", "--format", "=", "sl"), ["slurm "])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_completes_the_same(self):
        self.assertEqual(sorted(self.zsh("runs", "--job-name=etl/")), ["--job-name=etl/load ", "--job-name=etl/transform "])
        self.assertEqual(len(self.zsh("report", "--run=")), len(NAMES))
        self.assertEqual(self.zsh("catalogue", "u"), ["update "])
        self.assertEqual(self.zsh("jobs", "--color=a"), ["--color=auto ", "--color=always "])

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish_completes_the_same(self):
        self.assertEqual(self.fish("runs --job-name=etl/"), ["--job-name=etl/load", "--job-name=etl/transform"])
        self.assertEqual(len(self.fish("report --run=")), len(NAMES))
        self.assertEqual(self.fish("catalogue u"), ["update"])
        self.assertEqual(self.fish("help re"), ["recommend", "report"])
        self.assertEqual(sorted(self.fish("jobs --color=a")), ["--color=always", "--color=auto"])
        self.assertEqual(self.fish("recommend --format=sl"), ["--format=slurm"])
        self.assertEqual(self.fish("recommend --expl"), ["--explain"])
        self.assertEqual(self.fish("recommend --help=a"), ["--help=all"])
        self.assertEqual(self.fish("catalogue --catalogue.cach"), ["--catalogue.cache"])

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish_offers_the_flags_that_bash_offers(self):
        def of_bash(command):
            return {word.strip().rstrip("=") for word in self.bash(command, "--")}

        def of_fish(command):
            return {word.rstrip("=") for word in self.fish(f"{command} --")} | {"--help"}

        for command in ("serve", "run", "rules", "catalogue", "recommend", "jobs"):
            offered = of_bash(command)
            self.assertEqual(of_fish(command) - {"--job-name", "--run"}, offered - {"--job-name", "--run"}, command)
        self.assertIn("--no-kubernetes.api", of_fish("serve"))
        self.assertIn("--no-collector.memory", of_fish("run"))


if __name__ == "__main__":
    support.main()

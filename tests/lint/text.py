#!/usr/bin/python3
"""Rules about text and files alone: words that must not stay, lengths of files and functions, beginnings of comments, and what
may lie at the top.

Usage: text.py [FOLDER]     checks the project in FOLDER (default: this one); exit code 1 when something is found

Brackets in the patterns keep them from finding themselves.
"""
import pathlib
import re
import sys

SYSTEM = r"#include <({})\.h>"

# Which lines must not be where: files, pattern, what is wrong.
RULES = [
    ("recommender/**/*.[ch]",
     SYSTEM.format("sys/(socket|stat|time)|netinet/.*|arpa/.*|fcntl|unistd|dirent|time|pthread|signal"),
     "recommender/ is pure: no sockets, files, clocks, threads or signals"),
    ("**/*", r"\b([T]ODO|[F]IXME|[X]XX|[H]ACK)\b", "left open"),
    ("**/*", r"(?<![\w.-])/([h]ome|[r]oot|[U]sers|[w]ork|[f]arm)/[\w.-]", "a folder of somebody's machine"),
    ("**/*", r"[ \t]+$", "blanks at the end of the line"),
]
SKIPPED = {".git", "__pycache__", "corpus", "fixtures", "golden", "vendor"}
SOURCES = {".c", ".h", ".py", ".sh"}
# A longer file is more than one subject, or says here why it is one.
LINES_TO_ASK = 900
LONG_SUBJECTS = {
}
FUNCTION_LINES_MAX = 60
# The agreed top level; besides it only names with a dot in front, and folders of builds.
TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "collectors",
             "dashboards", "deploy", "exporter", "recommender", "tests"}
# A comment that begins so has to be read twice: CONTRIBUTING.md, Words.
SLASH = r"/\*(.*?)\*/|(?:^|(?<=\s))//([^\n]*)"
HASH = r"(?:^|(?<=\s))#(?![!{])([^\n]*(?:\n[ \t]*#[^\n]*)*)"
COMMENTS = {kind: re.compile(pattern, re.DOTALL | re.MULTILINE) for kind, pattern in {
    "C": SLASH,
    "Python": r'^[ \t]*"""(.*?)"""|' + HASH,
    "shell": HASH,
    "CMake and YAML": HASH,
    "JavaScript and CSS": SLASH,
}.items()}
COMMENT_KIND = {".c": "C", ".h": "C", ".py": "Python", ".sh": "shell", ".cmake": "CMake and YAML", ".yml": "CMake and YAML",
                ".yaml": "CMake and YAML", ".js": "JavaScript and CSS", ".mjs": "JavaScript and CSS", ".css": "JavaScript and CSS"}
SLOW_WORDS = "What|Of|Where|Who|Whose|Whoever|Those|Nobody"
SLOW_SENTENCE = re.compile(rf"\A[\s*/#-]*({SLOW_WORDS}|So)\b|\.\s[\s*/#]*({SLOW_WORDS})\b(?![^.?]*\?)")


def is_skipped(path):
    return path.parts[0].startswith("build") or any(part in SKIPPED for part in path.parts)


def files(root, pattern):
    for path in sorted(root.glob(pattern)):
        relative = path.relative_to(root)
        if path.is_file() and not is_skipped(relative):
            yield relative


def lines_of(path):
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []


def broken_rules(root):
    for pattern, forbidden, sentence in RULES:
        search = re.compile(forbidden).search
        for path in files(root, pattern):
            for number, line in enumerate(lines_of(root / path), 1):
                if search(line):
                    yield f"{path}:{number}: {sentence}: {line.strip()}"


def long_functions(path, lines):
    """Functions by their braces in the first column; a constant table in one does not count."""
    start, table = None, None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start, in_tables = number, 0
        elif start and table is None and line.startswith("\tstatic const ") and not line.endswith(";"):
            table = number
        elif table and line == "\t};":
            in_tables += number - table + 1
            table = None
        elif line == "}" and start:
            length = number - start - 1 - in_tables
            if length > FUNCTION_LINES_MAX:
                yield f"{path}:{start}: a function of {length} lines without its tables; at most {FUNCTION_LINES_MAX}: divide it"
            start, table = None, None


def too_long(root):
    for path in files(root, "**/*"):
        lines = lines_of(root / path) if path.suffix in SOURCES else []
        if len(lines) > LINES_TO_ASK and str(path) not in LONG_SUBJECTS:
            yield f"{path}: {len(lines)} lines: is it one subject? Divide it, or say why not in LONG_SUBJECTS of text.py"
        if path.suffix in {".c", ".h"}:
            yield from long_functions(path, lines)


def slow_comments(root):
    """Comments with a sentence that begins with a word that hides the subject."""
    for path in files(root, "**/*"):
        kind = "CMake and YAML" if path.name == "CMakeLists.txt" else COMMENT_KIND.get(path.suffix)
        text = "\n".join(lines_of(root / path)) if kind else ""
        for comment in COMMENTS[kind].finditer(text) if kind else ():
            slow = SLOW_SENTENCE.search(next(filter(None, comment.groups()), ""))
            if slow:
                number = text.count("\n", 0, comment.start()) + 1
                yield f'{path}:{number}: a sentence begins with "{slow[1] or slow[2]}", which hides its subject'


def strangers_at_the_top(root):
    for path in sorted(root.iterdir()):
        if path.name not in TOP_LEVEL and not path.name.startswith((".", "build")):
            yield f"{path.name}: does not belong at the top level, which has {', '.join(sorted(TOP_LEVEL))}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    found = [*strangers_at_the_top(root), *slow_comments(root), *broken_rules(root), *too_long(root)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

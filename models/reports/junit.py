"""A run as JUnit XML: a suite for each area, a case for each check."""

import re
from xml.etree import ElementTree as Xml

from models.events import Decided, Record
from models.traces import text
from models.verdict import Verdict


def document(record: Record) -> str:
    """The whole document; what is not as expected is a failure, what is undecided an error."""
    root = Xml.Element("testsuites", name="braid", time=f"{record.finished.seconds:.3f}")
    for area in dict.fromkeys(one.check.area for one in record.decided):
        own = [one for one in record.decided if one.check.area == area]
        suite = Xml.SubElement(
            root,
            "testsuite",
            name=area,
            tests=str(len(own)),
            failures=str(sum(_tag(one) == "failure" for one in own)),
            errors=str(sum(_tag(one) == "error" for one in own)),
            skipped="0",
            time=f"{sum(one.outcome.seconds for one in own):.3f}",
        )
        for one in own:
            suite.append(_case(one, record))
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(one: Decided, record: Record) -> Xml.Element:
    case = Xml.Element(
        "testcase", classname=one.check.area, name=one.check.name, time=f"{one.outcome.seconds:.3f}"
    )
    if file := one.check.place[0]:
        case.set("file", file)
        case.set("line", str(one.check.place[1]))
    stories = "\n".join(line for story in record.stories(one.check) for line in text.lines(story))
    if tag := _tag(one):
        message = one.outcome.explanation.partition("\n")[0] or one.verdict
        told = Xml.SubElement(case, tag, message=_printable(message), type=one.outcome.verdict.value)
        told.text = _printable("\n".join(filter(None, (one.check.says, one.outcome.explanation, stories))))
    elif stories:
        Xml.SubElement(case, "system-out").text = _printable(stories)
    return case


def _tag(one: Decided) -> str:
    if one.expected:
        return ""
    return "failure" if one.outcome.verdict in (Verdict.VIOLATED, Verdict.HOLDS) else "error"


def _printable(text: str) -> str:
    """Text without the characters that XML has no way to write."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text)

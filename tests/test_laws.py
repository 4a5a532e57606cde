"""Every law holds, and none of them for want of anything to look at."""

import pytest

from models.laws import all_laws
from models.laws.law import Law, run
from models.verdict import Verdict


@pytest.mark.parametrize("law", all_laws(), ids=lambda law: law.name)
def test_law(law: Law) -> None:
    outcome = run(law, examples=100)

    assert outcome.verdict is Verdict.HOLDS, outcome.explanation
    assert law.says, "a law says in a sentence what it demands"

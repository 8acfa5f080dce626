"""The grammar of values with parameters, and their registry: what a file that is dropped in gets without more lines."""

from dataclasses import dataclass

import pytest

from forestcoll.base.errors import InternalError
from forestcoll.base.parameters import flag, integer, text
from forestcoll.base.registry import Registry
from refusal import refusal

pens = Registry("pen", ())


@pens.add("ball-pen")
@dataclass(frozen=True)
class BallPen:
    width: int = integer(2, "the width", minimum=1, maximum=9, is_size=True)
    is_red: bool = flag("whether it is red")
    label: str = text("none", "a text", "what is written on it")


@pytest.mark.parametrize(
    ("given", "value", "normal"),
    [
        ("ball-pen", BallPen(), "ball-pen:width=2,label=none"),
        ("ball-pen:is_red=true,width=3", BallPen(3, is_red=True), "ball-pen:width=3,is_red=true,label=none"),
        ("ball-pen:label='a,b=c:d'", BallPen(label="a,b=c:d"), "ball-pen:width=2,label='a,b=c:d'"),
        ('ball-pen:label="it\'s, so",width=1', BallPen(1, label="it's, so"), 'ball-pen:width=1,label="it\'s, so"'),
    ],
)
def test_a_text_is_read_and_written_in_the_normal_form(given: str, value: BallPen, normal: str) -> None:
    assert pens.read(given) == value
    assert pens.text(value) == normal
    assert pens.read(normal) == value


def test_a_wrong_text_is_refused_with_what_is_near() -> None:
    messages = {
        "ballpen": "'ballpen': no such pen; did you mean 'ball-pen'? there are ball-pen",
        "ball-pen:": "ball-pen: '' is not key=value; expected NAME:key=value,key=value",
        "ball-pen:width=3,4": "ball-pen: '4' is not key=value; expected NAME:key=value,key=value",
        "ball-pen:label=a,b": "ball-pen: 'b' is not key=value; expected NAME:key=value,key=value, "
        "with quotes around a text that has commas",
        "ball-pen:widht=3": "ball-pen: there is no parameter 'widht'; did you mean 'width'? there are "
        "width, is_red, label",
        "ball-pen:width=10": "ball-pen: width is '10'; expected an integer from 1 to 9",
        "ball-pen:width=1,width=2": "ball-pen: width is given twice; give it once",
        "ball-pen:label='a,width=1": 'ball-pen: label is "\'a,width=1"; expected a text',
    }
    assert {given: refusal(pens.read, given) for given in list(messages)[:-1]} == dict(list(messages.items())[:-1])
    assert pens.read("ball-pen:label='a,width=1").label == "'a,width=1"
    with pytest.raises(InternalError, match="two values are called 'ball-pen'"):
        pens.add("ball-pen")(BallPen)
    assert pens.text(3) == "3"

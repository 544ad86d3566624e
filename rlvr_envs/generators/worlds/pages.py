"""Articles as plain data: pages of headed sections."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A headed piece of a page; its text holds sentences, lists, tables and links."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """An article; its id is a short slug that serves as its address."""

    id: str
    title: str
    sections: tuple[Section, ...]

"""What the API takes. What it gives are the frozen classes of `index.results` and their kin."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, model_validator

Short = Annotated[str, Field(max_length=100_000)]
Measure = Literal["resemblance", "containment", "contained_in"]


class Text(BaseModel):
    """A document that need not have an id."""

    model_config = ConfigDict(populate_by_name=True)

    doc_id: str = Field("", validation_alias=AliasChoices("doc_id", "id"), max_length=100_000)
    text: str
    title: Short | None = None
    url: Short | None = None
    date: Short | None = None
    source: Short | None = None
    markup: bool = Field(False, description="Whether the text is HTML.")


class NewDocument(Text):
    """A document to be stored."""

    doc_id: str = Field(min_length=1, validation_alias=AliasChoices("doc_id", "id"), max_length=100_000)


class Narrowed(BaseModel):
    """Which matches are wanted."""

    limit: int = Field(10, ge=1, le=10_000)
    minimum: float | None = Field(None, ge=0, le=1, description="Least measure.")
    measure: Measure | None = None
    since: Short | None = Field(None, description="First day of a match's date.")
    until: Short | None = Field(None, description="Last day of it.")

    def options(self) -> dict[str, Any]:
        """As `Index.query` takes them."""
        return self.model_dump(include={"limit", "minimum", "measure", "since", "until"})


class Check(Text, Narrowed):
    """A document to be matched without being stored."""

    def document(self) -> dict[str, Any]:
        """Without what is wanted of it."""
        return self.model_dump(include=set(Text.model_fields))


class Ids(BaseModel):
    """Documents by their ids."""

    ids: list[Annotated[str, Field(min_length=1, max_length=100_000)]]


class Ranked(BaseModel):
    """A result of a search: an id, or a text, and what else is known."""

    doc_id: str | None = Field(None, validation_alias=AliasChoices("doc_id", "id"), max_length=100_000)
    text: str | None = None
    title: Short | None = None
    url: Short | None = None
    date: Short | None = None
    source: Short | None = None
    markup: bool = False


class Group(BaseModel):
    """Results, best first. With texts they are judged on them; without, on what the index holds of them."""

    results: list[Ranked]
    show: Literal["rank", "newest", "oldest", "longest"] = "rank"
    threshold: float | None = Field(None, gt=0, le=1, description="With texts only: an index has its own.")


class Side(BaseModel):
    """A text, or the id of a stored document."""

    text: str | None = None
    doc_id: str | None = Field(None, validation_alias=AliasChoices("doc_id", "id"), max_length=100_000)

    @model_validator(mode="after")
    def _one_of_them(self) -> Side:
        if (self.text is None) == (self.doc_id is None):
            raise ValueError("give a text or a doc_id, one of them")
        return self


class Compare(BaseModel):
    """Two documents to be compared."""

    left: Side
    right: Side
    shingle_size: int = Field(5, ge=1, le=64)
    diff: bool = Field(True, description="Tell the difference word by word as well.")
    context: int | None = Field(None, ge=0, le=1_000_000, description="Words around each change; all, if not given.")

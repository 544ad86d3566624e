"""Kinds of pages in varied prose: how they open and close, what frames a fact, and what tells none.

In openings, `{s}` is the name, `{aka}` the second name in brackets, and `{an}` the noun with its
article. In fillers and near misses, `{s}`, `{m}` and `{p}` are what the page is about as subject,
object and possessive, `{o}` is a link to something else, and `{y}` and `{n}` are a year and a
number that belong to no fact. Years of fillers lie after 1930, when all facts are past, so that
they contradict none. A frame holds a whole statement, `{c}`, and asserts it.
"""

from dataclasses import dataclass

PROSE, ITEMS, CARD, DATES, TALK = "prose", "items", "card", "dates", "talk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Genre:
    """A kind of page."""

    openings: tuple[str, ...]
    frames: tuple[str, ...]
    fillers: tuple[str, ...]
    closings: tuple[str, ...] = ()
    layout: str = PROSE
    headings: tuple[str, ...] = ()  # instead of those of the thing's kind


_ARTICLE = Genre(
    openings=(
        "{s}{aka} is {an}.",
        "This page deals with {s}{aka}, {an}.",
        "By {s}{aka} we mean here {an}.",
        "Among the names that people look up here is {s}{aka}, {an}.",
    ),
    frames=(
        "it is on record that {c}",
        "there is no doubt that {c}",
        "one should know that {c}",
        "{c}, as all accounts agree",
        "beyond question, {c}",
    ),
    fillers=(
        "More than this has not been asked so far.",
        "The sources for this part are {n} loose sheets.",
        "A longer account was planned in {y} but never written.",
        "The rest is anecdote.",
        "Scholars have had little to add.",
        "The handwriting of the sources is clear throughout.",
    ),
)
_LETTER = Genre(
    openings=(
        "Dear Sir, you ask me about {s}{aka}, {an}.",
        "Dear friend, the name you sent me, {s}{aka}, is that of {an}.",
        "Dear colleague, on your card you had only one name: {s}{aka}, {an}.",
        "Dear children, today I write to you about {s}{aka}, {an}.",
    ),
    frames=(
        "I can tell you that {c}",
        "you will remember that {c}",
        "my papers show that {c}",
        "{c}, and I have seen the proof myself",
        "let me add that {c}",
    ),
    fillers=(
        "Forgive my handwriting, the lamp is poor tonight.",
        "It has rained here for {n} days.",
        "Your last letter took its time.",
        "I had hoped to find more, but the cellar is damp.",
        "My knee is better, thank you for asking.",
        "The tea is getting cold while I look for my notes.",
        "I have kept your question in my pocket since {y}.",
    ),
    closings=(
        "I hope this is of use to you. Yours faithfully, the archivist.",
        "Write again soon. Your old friend.",
        "More when we meet. With kind regards from the reading room.",
    ),
    headings=("Dear reader", "To your question", "And further"),
)
_MINUTES = Genre(
    openings=(
        "The history circle met in the back room, and its subject was {s}{aka}, {an}.",
        "The chair opened the meeting and named the subject of the day: {s}{aka}, {an}.",
        "Subject of the evening was {s}{aka}, {an}.",
    ),
    frames=(
        "the secretary stated that {c}",
        "the circle took note that {c}",
        "it was entered in the book that {c}",
        "the treasurer read out that {c}",
        "on request it was confirmed that {c}",
    ),
    fillers=(
        "{n} members were in the room.",
        "There was a short break for coffee.",
        "The window was closed because of the draught.",
        "The minutes of the last meeting were approved.",
        "A question from the floor was put off to the next meeting.",
        "The chair asked for silence.",
        "A motion to buy new chairs failed, as it had in {y}.",
    ),
    closings=(
        "The meeting closed at nine.",
        "There being no other business, the lamp was put out.",
    ),
    layout=ITEMS,
    headings=("Present", "First part", "Second part"),
)
_NEWS = Genre(
    openings=(
        "From our own correspondent. Much is being said these days about {s}{aka}, {an}.",
        "Who or what is {s}{aka}? The answer is simple: {an}.",
        "Our series reaches {s}{aka}, {an}.",
    ),
    frames=(
        "our readers may know that {c}",
        "our correspondent can confirm that {c}",
        "{c}, we can report",
        "less known, but true: {c}",
        "files seen by this page show that {c}",
    ),
    fillers=(
        "Letters on this subject reach us every week.",
        "Our photographer was there, but the light was poor.",
        "The series goes on next week with another name.",
        "We have received {n} letters about it.",
        "A misprint in our issue of May {y} has been pointed out to us.",
        "An interview with the caretaker will follow.",
    ),
    closings=("We shall report further.", "The editors thank all who wrote to us."),
    headings=("The story so far", "Background", "What else we know"),
)
_CARD = Genre(
    openings=(
        "Card of the general index. Entry: {s}{aka}, {an}.",
        "Index card, typed. Heading: {s}{aka}, {an}.",
        "Entry for {s}{aka}, {an}.",
    ),
    frames=(
        "added in pencil: {c}",
        "added later: {c}",
        "on the back of the card: {c}",
        "checked and found right: {c}",
    ),
    fillers=(
        "Card {n} of the drawer.",
        "Stamped in {y}.",
        "The lower corner is torn off.",
        "Typed with a new ribbon.",
        "See the drawer below for pictures.",
    ),
    layout=CARD,
    headings=("Remarks", "Back of the card"),
)
_TALK = Genre(
    openings=(
        "A conversation about {s}{aka}, {an}, taken down at the museum desk.",
        "Visitors often ask at the desk about {s}{aka}, {an}, and this is how it goes.",
    ),
    frames=(
        "well, {c}",
        "I can show you the page which says that {c}",
        "people forget that {c}",
        "yes, and {c}",
        "{c}, believe me",
    ),
    fillers=(
        "Mind the step, please.",
        "That is a question I hear {n} times a week.",
        "The lamp over there was a gift.",
        "You may sit down if you like.",
        "I have worked at this desk since {y}.",
        "School classes always laugh at this point.",
    ),
    closings=("Visitor: Thank you.\nGuide: Come again.",),
    layout=TALK,
    headings=("At the desk", "Going on", "Before closing time"),
)
_CHRONICLE = Genre(
    openings=(
        "Dates and notes on {s}{aka}, {an}.",
        "{s}{aka} is {an}, and the dates come first here.",
        "For those in a hurry: {s}{aka}, {an}, by dates.",
    ),
    frames=(
        "the notes say that {c}",
        "it is noted in red ink that {c}",
        "a second hand adds that {c}",
        "{c}, as a note in the margin confirms",
    ),
    fillers=(
        "The ink has run on this line.",
        "Here {n} lines are crossed out.",
        "A blot hides nothing of importance.",
        "The hand changes here, as it does in all books of {y}.",
    ),
    layout=DATES,
    headings=("Notes of the keeper", "Further notes"),
)
GENRES = (_ARTICLE, _ARTICLE, _LETTER, _MINUTES, _NEWS, _CARD, _TALK, _CHRONICLE)

ASKED = (  # lines of a conversation, before an answer
    "What should one know?",
    "And what else is there to tell?",
    "Is that all?",
    "My aunt asked me to find out more.",
    "I have heard other stories.",
    "Could you say that again for my notebook?",
    "What do the papers say?",
)

# Fillers about the subject of a page: a lead and a statement, which go together in any pair.
LEADS = (
    "",
    "",
    "",
    "in {y} ",
    "around {y} ",
    "in the summer of {y} ",
    "oddly enough ",
    "it is said that ",
    "the papers of {y} tell that ",
    "older people remember that ",
    "according to a letter to the editor ",
    "a caretaker swore that ",
)
FILLERS = {
    "person": (
        "stories were told about how {s} fed the pigeons",
        "a portrait of {m} hung in {n} schoolrooms",
        "{p} spectacles were shown under glass",
        "people copied {p} way of tying a scarf",
        "there was talk of a film about {m}, which nobody made",
        "{p} umbrella was sold twice at auction",
        "children skipped rope to a rhyme about {m}",
        "admirers of {m} quarrelled over the colour of a coat",
        "{p} handwriting was called the neatest of its time",
        "{n} letters that mention {m} were sorted by size",
        "cooks named a soup after {p} cat",
        "the story that {s} could not swim was told with pleasure",
        "a wax figure of {m} melted a little during a heat wave",
        "two schools argued over {p} old desk",
        "{s} was drawn on a matchbox",
        "{p} favourite bench was moved to a museum",
        "a clerk spelt {p} name with a wrong letter",
        "the anecdote of {m} and the goose was printed {n} times",
    ),
    "place": (
        "walkers praised the view of {m} from the north",
        "a bakery in {m} sold {n} sorts of bread",
        "the fog over {m} was a favourite subject of painters",
        "{p} cats were lazy",
        "{p} lamps were painted green",
        "a flood left {n} cellars in {m} wet",
        "visitors complained about {p} bells",
        "{p} fountain was out of order",
        "{p} apples were sold at far markets",
        "a map showed {m} with a bridge that was never built",
        "{p} guests were given a clay whistle",
        "the night trains did not stop in {m}",
        "{p} telephone book was the thinnest of its kind",
        "the road past {m} was lined with {n} poplars",
        "a clockmaker in {m} refused to hurry",
        "{p} weather was the same as everywhere",
        "{p} milk was praised in a song",
        "a travelling circus avoided {m} because of the mud",
    ),
    "organisation": (
        "{p} stairs were scrubbed every Friday",
        "{p} letterhead was printed in dark blue",
        "{n} umbrellas were left behind in the hall of {m}",
        "{p} clock was five minutes fast",
        "people said that {s} bought the best ink",
        "{p} annual dinner was known for its soup",
        "a parrot in the porter's lodge of {m} learned to count",
        "{p} cellars were full of old chairs",
        "{p} archive lost {n} boxes to mice",
        "a rumour that {s} would move to the sea was denied",
        "{p} doors were painted again",
        "{p} flag was put up upside down",
        "{p} cat slept in the letter tray",
        "{p} chairs were lent out for weddings",
        "{p} visitors were asked to wipe their boots",
        "{n} postcards of the main door of {m} were printed",
        "{p} gardener grew prize leeks",
        "a bust in the hall of {m} wore a hat every winter",
    ),
    "work": (
        "a copy of {m} turned up in a suitcase",
        "{p} cover was reprinted as a postcard",
        "students passed {m} around under the desks",
        "a reading of {m} was broken off because of the heat",
        "{p} last scene made {n} people cry",
        "critics could not agree on {p} mood",
        "a pirated copy of {m} had blue edges",
        "{p} title was misspelt on {n} posters",
        "a dog in a village was called after a line of {m}",
        "librarians kept {m} on the top shelf",
        "there was a plan to translate {m} into verse",
        "{p} illustrations were coloured by hand",
        "a choir hummed a tune made up for {m}",
        "{p} margins were filled with sums by a schoolboy",
        "{n} letters to the editor complained about {m}",
        "a tailor sold a coat in the style of {m}",
        "{p} spine faded in the sun",
        "the dust jacket of {m} was used as wallpaper",
    ),
    "event": (
        "people still spoke of {p} brass band",
        "{p} posters were collected like stamps",
        "{n} hats were lost in the wind during {m}",
        "a cup from {m} was used as a flower pot",
        "{p} lemonade was remembered as too sweet",
        "{p} tents were sold to a circus",
        "photographs of {m} were pasted in albums",
        "a song about {m} was sung with wrong words",
        "{p} last evening ended with {n} lanterns",
        "the ground where the visitors of {m} had walked was sown with clover",
        "a ticket of {m} served as a bookmark",
        "{p} fireworks were put off because of fog",
        "a bench from {m} stood in a garden",
        "{n} pigeons were released again in memory of {m}",
        "{p} flags were cut up for aprons",
        "a waiter of {m} told the story of the spilt soup",
        "{p} mud became a proverb",
        "{p} map was printed upside down",
    ),
}
# Near misses beside those of `sentences.DISTRACTORS`, by the kind of the thing that they mention.
NEAR_MISSES = {
    "person": (
        "{o} is often taken for someone who had to do with {m}",
        "the papers of {o} do not mention {m}",
        "a nephew of {o} drew a caricature that makes fun of {m}",
        "whoever looks for {o} in the files on {m} finds nothing",
        "{o} once asked the way to an exhibition on {m} and gave up",
    ),
    "place": (
        "a lecture on {m} was given in {o} to {n} listeners",
        "the museum of {o} refused a picture of {m}",
        "a shop in {o} sold plaster figures of {m}",
        "a coach driver from {o} claimed to know all about {m}",
        "in {o} a poster on {m} was pasted over",
    ),
    "organisation": (
        "a file on {m} was sent to {o} by mistake",
        "the porter of {o} told stories about {m}",
        "{o} turned down a speech in praise of {m}",
        "an essay on {m} won a small prize from {o}",
        "the calendar of {o} has a picture of {m} in June",
    ),
    "work": (
        "a parody of {o} has a verse on {m}",
        "the binder of {o} used a drawing of {m} as waste paper",
        "a footnote in a reprint of {o} is about {m}",
        "whoever reads {o} for news of {m} will be disappointed",
        "an actor in {o} was dressed up to recall {m}",
    ),
    "event": (
        "a pamphlet on {m} was handed out near {o}",
        "the organ-grinders of {o} had no tune about {m}",
        "{n} toy flags with the name of {m} were left over from {o}",
        "a speaker at {o} confused {m} with something else",
        "an album of {o} has a loose photograph that is said to show {m}",
    ),
}
# Where a fact stands in a note, and what it is about, by relation.
NOTED = (
    "for {p} {topic}, see note {n}",
    "{p} {topic} is the subject of note {n}",
    "on {p} {topic} there is more in note {n}",
    "note {n} settles the question of {p} {topic}",
    "whoever wants to know about {p} {topic} should read note {n}",
    "a word on {p} {topic} stands in note {n}",
)
TOPICS = {
    "birthplace": "place of birth",
    "teacher": "training",
    "employer": "employment",
    "born": "year of birth",
    "member": "membership",
    "attended": "part in public events",
    "namesake": "name",
    "feast": "yearly feast",
    "population": "number of inhabitants",
    "elevation": "elevation",
    "seat": "seat",
    "founder": "founder",
    "founded": "founding year",
    "staff": "number of employees",
    "author": "author",
    "publisher": "publisher",
    "published": "year of publication",
    "pages": "length",
    "venue": "venue",
    "organiser": "organiser",
    "opening": "opening work",
    "held": "year",
    "visitors": "number of visitors",
    "mayor": "mayor from {a} to {b}",
    "head": "head from {a} to {b}",
}
REPORTS = (
    "according to the {source} of {year}, {c}",
    "the {source} of {year} states that {c}",
    "in the {source} of {year} one reads that {c}",
    "as the {source} of {year} reports, {c}",
    "{c}, says the {source} of {year}",
    "{c}, if the {source} of {year} is right",
    "{c} (so the {source} of {year})",
)
ALSO = (  # headings over facts about other things
    "Also recorded",
    "In other files",
    "Connections",
    "Side notes",
)

"""The sentences of the articles: those that tell a fact, and those that tell none.

`{s}` is the subject, `{o}` the value, `{a}` and `{b}` the first and the last year of a fact that
holds for a time. A sentence that tells a fact is built so that no other sentence looks like it:
who reads the articles by these patterns finds every fact and nothing else.
"""

FACTS = {
    "birthplace": (
        "{s} was born in {o}.",
        "The birthplace of {s} is {o}.",
        "{s} came into the world in {o}.",
        "{s} was a child of {o}, where the family had long lived.",
    ),
    "teacher": (
        "{s} was taught by {o}.",
        "The teacher of {s} was {o}.",
        "{s} learned the trade under {o}.",
        "It was {o} who trained {s}.",
    ),
    "employer": (
        "{s} was employed by {o}.",
        "The employer of {s} was {o}.",
        "{s} earned a living at {o}.",
        "{o} had {s} on its payroll.",
    ),
    "born": (
        "{s} was born in the year {o}.",
        "The birth of {s} fell in the year {o}.",
        "The year {o} saw the birth of {s}.",
    ),
    "member": (
        "{s} was a member of {o}.",
        "Among the members of {o} was {s}.",
        "{s} belonged to {o}.",
        "{o} counted {s} among its members.",
    ),
    "attended": (
        "{s} took part in {o}.",
        "Among those present at {o} was {s}.",
        "{s} had a place on the list of participants of {o}.",
        "{o} was attended by {s}.",
    ),
    "namesake": (
        "{s} was named after {o}.",
        "The name of {s} honours {o}.",
        "{s} bears its name in memory of {o}.",
        "It is {o} whom the name of {s} recalls.",
    ),
    "feast": (
        "{s} recalls {o} with its feast.",
        "The feast of {s} recalls {o}.",
        "Every year the people of {s} celebrate the memory of {o}.",
        "{o} is remembered each year in {s}.",
    ),
    "population": (
        "{s} has {o} inhabitants.",
        "The population of {s} is {o}.",
        "A total of {o} people live in {s}.",
    ),
    "elevation": (
        "{s} lies {o} metres above the sea.",
        "The elevation of {s} is {o} metres.",
        "At {s} the market square stands {o} metres above sea level.",
    ),
    "mayor": (
        "{o} was mayor of {s} from {a} to {b}.",
        "From {a} to {b} the mayor of {s} was {o}.",
        "{s} had {o} as its mayor between {a} and {b}.",
    ),
    "seat": (
        "{s} has its seat in {o}.",
        "The seat of {s} is {o}.",
        "{s} is based in {o}.",
        "The offices of {s} stand in {o}.",
    ),
    "founder": (
        "{s} was founded by {o}.",
        "The founder of {s} was {o}.",
        "{o} brought {s} into being.",
        "{s} owes its existence to {o}.",
    ),
    "founded": (
        "{s} was founded in {o}.",
        "The founding of {s} dates from {o}.",
        "{s} has existed since {o}.",
    ),
    "staff": (
        "{s} employs {o} people.",
        "The staff of {s} numbers {o}.",
        "On the payroll of {s} are {o} employees.",
    ),
    "head": (
        "{o} was head of {s} from {a} to {b}.",
        "From {a} to {b} the head of {s} was {o}.",
        "{s} was led by {o} between {a} and {b}.",
    ),
    "author": (
        "{s} was written by {o}.",
        "The author of {s} is {o}.",
        "{s} is from the pen of {o}.",
        "{o} wrote {s}.",
    ),
    "publisher": (
        "{s} was published by {o}.",
        "The publisher of {s} is {o}.",
        "{s} was brought to print by {o}.",
        "{o} issued {s}.",
    ),
    "published": (
        "{s} was published in {o}.",
        "{s} first appeared in {o}.",
        "The publication of {s} dates from {o}.",
    ),
    "pages": (
        "{s} has {o} pages.",
        "The first edition of {s} runs to {o} pages.",
        "In print {s} fills {o} pages.",
    ),
    "venue": (
        "{s} was held in {o}.",
        "The venue of {s} was {o}.",
        "{s} took place in {o}.",
        "{o} was the host of {s}.",
    ),
    "organiser": (
        "{s} was organised by {o}.",
        "The organiser of {s} was {o}.",
        "{o} arranged {s}.",
        "{s} was the undertaking of {o}.",
    ),
    "opening": (
        "{s} was opened with {o}.",
        "The opening of {s} was given to {o}.",
        "{s} began with a reading of {o}.",
        "{o} was chosen to open {s}.",
    ),
    "held": (
        "{s} was held in the year {o}.",
        "{s} dates from the year {o}.",
        "The year of {s} was {o}.",
    ),
    "visitors": (
        "{s} drew {o} visitors.",
        "The visitors of {s} numbered {o}.",
        "At the gates of {s} some clerks counted {o} visitors.",
    ),
}

ROWS = {
    "birthplace": "Place of birth",
    "teacher": "Teacher",
    "employer": "Employer",
    "born": "Year of birth",
    "member": "Membership",
    "attended": "Events",
    "namesake": "Named after",
    "feast": "Feast in memory of",
    "population": "Inhabitants",
    "elevation": "Elevation (m)",
    "seat": "Seat",
    "founder": "Founder",
    "founded": "Founding year",
    "staff": "Employees",
    "author": "Author",
    "publisher": "Publisher",
    "published": "Year of publication",
    "pages": "Pages",
    "venue": "Venue",
    "organiser": "Organiser",
    "opening": "Opened with",
    "held": "Year",
    "visitors": "Visitors",
    "mayor": "Mayor from {a} to {b}",
    "head": "Head from {a} to {b}",
}

ACCORDING = "According to the {source} of {year}, "
ALIAS = "{s} is also known as {o}."
IS_A = "{s} is {article} {noun}."
NOTED = "More on this is said in note {n}.[{n}]"

# Near misses, by the type of the other entity that they mention; they tell none of the facts.
DISTRACTORS = {
    "person": (
        "A letter about {s} was once sent to {o}.",
        "It is said that {o} never spoke well of {s}.",
    ),
    "place": (
        "A painting in {o} shows {s}.",
        "Plans to honour {s} in {o} came to nothing.",
    ),
    "organisation": (
        "The archive of {o} holds an old drawing of {s}.",
        "A quarrel between {o} and the admirers of {s} filled the newspapers for a month.",
    ),
    "work": (
        "A reviewer of {o} mentions {s} in passing.",
        "A line in {o} has been read as a joke about {s}.",
    ),
    "event": (
        "{s} is missing from the programme of {o}.",
        "A speech given at {o} made no mention of {s}.",
    ),
}

FILLERS = (
    "Records of the time are scarce.",
    "Much of the correspondence was lost in a fire.",
    "Later writers have added little to this.",
    "The spelling of the name varies in old documents.",
    "A commemorative plaque was planned but never made.",
    "Local tradition tells the story differently, without dates.",
    "The weather of that spring was remarked upon by everyone.",
    "Several drawings are kept in private hands.",
    "The ledgers show steady if modest expenses.",
    "No photograph is known.",
    "Opinions on the matter were divided for decades.",
    "An inventory lists furniture, two clocks and a piano.",
    "The roads of the region were poor until the railway came.",
    "Contemporaries praised the punctuality above all else.",
    "A short notice in an almanac repeats the same account.",
    "The question has been left to specialists.",
)

HEADINGS = {
    "person": ("Life", "Career", "Reception"),
    "place": ("Geography", "History", "Public life"),
    "organisation": ("Origins", "Activities", "Standing"),
    "work": ("Composition", "Contents", "Reception"),
    "event": ("Preparation", "Course", "Aftermath"),
}

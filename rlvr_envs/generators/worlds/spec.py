"""The knobs of a world."""

from dataclasses import dataclass, fields, replace

from rlvr_envs.core.errors import ConfigError

RULES = ("authority", "latest")
# Which report is believed where the rule is "authority": the first of these.
SOURCES = ("civil register", "chronicle", "newspaper")
_LEAST = {"n_people": 9, "n_places": 4, "n_organisations": 4, "n_works": 4, "n_events": 4}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """What a world is like; with a seed it is the whole world."""

    n_people: int = 16
    n_places: int = 8
    n_organisations: int = 9
    n_works: int = 10
    n_events: int = 7
    alias_rate: float = 0.2  # entities that have a second name
    alias_use: float = 0.3  # mentions of such an entity that use it, in questions too
    family_rate: float = 0.1  # people who share their last name with another
    homonym_rate: float = 0.05  # people, places and works that share a name with another
    gap_rate: float = 0.1  # facts that no page records
    elsewhere: float = 0.2  # facts recorded on another page than the subject's
    in_table: float = 0.2
    in_footnote: float = 0.1
    distractors: int = 2  # sentences on a page that mention another entity and state no fact
    fillers: int = 2  # sentences in a section that state nothing; many of them force paging
    conflict_rate: float = 0.1  # facts that two sources disagree about
    rule: str = "authority"  # how such a conflict is resolved, one of RULES
    dead_link_rate: float = 0.05
    paraphrases: int = 4  # sentence patterns in use for a relation

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, got {getattr(self, name)}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is float and not 0 <= value <= 1:
                raise ConfigError(f"{field.name} is a share in [0, 1], got {value}")
        if self.gap_rate > 0.5:
            raise ConfigError(f"gap_rate is at most 0.5, or questions run out; got {self.gap_rate}")
        if self.elsewhere + self.in_table + self.in_footnote > 1:
            raise ConfigError(
                "elsewhere + in_table + in_footnote must be at most 1, got "
                f"{self.elsewhere + self.in_table + self.in_footnote}"
            )
        if self.rule not in RULES:
            raise ConfigError(f"rule is one of {', '.join(RULES)}, got {self.rule!r}")
        if self.distractors < 0 or self.fillers < 0 or self.paraphrases < 1:
            raise ConfigError(
                "need distractors >= 0, fillers >= 0 and paraphrases >= 1, got "
                f"{self.distractors}, {self.fillers} and {self.paraphrases}"
            )

    @property
    def n_articles(self) -> int:
        """The number of entities, each of which has one page."""
        return self.n_people + self.n_places + self.n_organisations + self.n_works + self.n_events

    def sized(self, n_articles: int) -> "WorldSpec":
        """Return a spec that has so many articles, in the same proportions, and is else the same.

        Raises:
            ConfigError: these are too few to have some of each kind.
        """
        share = n_articles / self.n_articles
        sized = replace(
            self,
            n_people=int(self.n_people * share),
            n_places=int(self.n_places * share),
            n_organisations=int(self.n_organisations * share),
            n_works=int(self.n_works * share),
            n_events=int(self.n_events * share),
        )
        return replace(sized, n_people=sized.n_people + n_articles - sized.n_articles)

    @classmethod
    def at(cls, difficulty: int) -> "WorldSpec":
        """The world grows by 13 articles a level; its facts get harder to find and to settle.

        Beyond level 10, where the shares have reached their ends, pages grow: by a near miss every
        second level, and by a filler in each section every third.
        """
        share = min(difficulty, 10) / 10
        beyond = max(0, difficulty - 10)
        return cls(
            n_people=14 + 4 * difficulty,
            n_places=7 + 2 * difficulty,
            n_organisations=8 + 2 * difficulty,
            n_works=9 + 3 * difficulty,
            n_events=6 + 2 * difficulty,
            alias_rate=0.6 * share,
            alias_use=0.7 * share,
            family_rate=0.5 * share,
            homonym_rate=0.15 * share,
            elsewhere=0.4 * share,
            in_table=0.1 + 0.1 * share,
            in_footnote=0.15 * share,
            distractors=round(4 * share) + beyond // 2,
            fillers=1 + round(share) + beyond // 3,
            conflict_rate=0.25 * share,
            rule=RULES[difficulty % 2],
            dead_link_rate=0.3 * share,
            paraphrases=2 + difficulty,
        )

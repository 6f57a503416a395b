"""Records of equal-length arrays: data first, drawn by displays."""

from dataclasses import dataclass, fields

from calibrant._support.extras import import_extra

__all__ = ["Record"]


@dataclass(frozen=True)
class Record:
    """Base of curve records: named columns of one length."""

    def to_dict(self) -> dict:
        """The columns as lists, ready for JSON."""
        return {f.name: getattr(self, f.name).tolist() for f in fields(self)}

    def frame(self):
        """The columns as a pandas data frame."""
        pandas = import_extra("pandas", "a data frame of a curve", "frames")
        return pandas.DataFrame({f.name: getattr(self, f.name) for f in fields(self)})

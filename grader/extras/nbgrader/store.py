"""Opens nbgrader's gradebook: whole, at nbgrader's own version, one transaction at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory
from nbgrader.api import Base, Gradebook
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from tornado.log import app_log

from grader.core.errors import UsageError
from grader.core.kit import installing

VERSION_TABLE = "alembic_version"


def database_url(address: str) -> URL:
    """A gradebook's address as SQLAlchemy expects it; a path is a SQLite file.

    Raises:
        UsageError: when it is not an address.
    """
    if "://" not in address:
        return URL.create("sqlite", database=str(Path(address).resolve()))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError) as error:
        raise UsageError(
            f"{address!r} is no address of a gradebook. Give a path, sqlite:///PATH or "
            "postgresql://USER@HOST/NAME."
        ) from error
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise UsageError(f"{address!r} names no file. Give sqlite:///PATH.")
        return url.set(database=str(Path(url.database).resolve()))
    if url.drivername in ("postgres", "postgresql"):
        return url.set(drivername="postgresql+psycopg")
    return url


def without_password(url: URL) -> str:
    """The address for a file: PostgreSQL's own library reads PGPASSWORD or ~/.pgpass."""
    parts = (url.host, url.port, url.database, url.query)
    return URL.create(url.drivername, url.username, None, *parts).render_as_string()


@contextmanager
def open_gradebook(address: str, course_id: str) -> Iterator[Gradebook]:
    """The gradebook; its tables are made, or completed, where they are missing.

    Raises:
        UsageError: when it cannot be reached, or belongs to another version of nbgrader.
    """
    url = database_url(address)
    shown = url.render_as_string()
    try:
        _prepare(url)
        gradebook = Gradebook(url.render_as_string(hide_password=False), course_id)
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise UsageError(
            f"The gradebook {shown} needs a driver that is not installed ({error}). "
            f"For PostgreSQL: {installing('postgresql')}."
        ) from error
    except (DBAPIError, OSError) as error:
        raise UsageError(f"The gradebook {shown} cannot be opened: {reason(error)}") from error
    try:
        yield gradebook
    finally:
        gradebook.close()


def reason(error: Exception) -> str:
    """The first line of what a database says."""
    said = str(error.orig) if isinstance(error, DBAPIError) else str(error)
    return (said.strip().splitlines() or [type(error).__name__])[0]


def _prepare(url: URL) -> None:
    """Make what is missing, in one transaction.

    nbgrader makes tables first and then asks another program for the version to write beside them;
    a run that ends in between leaves a database that opens and can never be upgraded.
    """
    if url.get_backend_name() == "sqlite":
        Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            if engine.dialect.name == "sqlite":
                # Python's driver begins a transaction only before data changes, not tables.
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            _complete(engine, connection)
    finally:
        engine.dispose()


def _complete(engine: Engine, connection: Connection) -> None:
    head = _newest_version()
    has_table = inspect(connection).has_table(VERSION_TABLE)
    found = text(f"SELECT version_num FROM {VERSION_TABLE}")
    version = connection.execute(found).scalar() if has_table else None
    if version == head:
        return
    if version is None:
        Base.metadata.create_all(connection)
    if version is not None or not _is_current(connection):
        raise UsageError(
            f"The gradebook {engine.url.render_as_string()} was made by another version of "
            "nbgrader. Run `nbgrader db upgrade` first."
        )
    if not has_table:
        connection.execute(text(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL)"))
    connection.execute(text(f"INSERT INTO {VERSION_TABLE} VALUES (:head)"), {"head": head})


def _newest_version() -> str:
    config = Config()
    config.set_main_option("script_location", ALEMBIC_DIR.replace("%", "%%"))
    return str(ScriptDirectory.from_config(config).get_current_head())


def _is_current(connection: Connection) -> bool:
    """Whether every table has the columns that this version of nbgrader gives it."""
    found = inspect(connection)
    return all(
        {column["name"] for column in found.get_columns(name)} == set(table.columns.keys())
        for name, table in Base.metadata.tables.items()
    )


@contextmanager
def transaction(gradebook: Gradebook) -> Iterator[None]:
    """All or nothing: what nbgrader's methods commit within is committed at the end, together."""
    gradebook.db.remove()
    # nbgrader's log would have a traceback for what is raised anyway.
    before, app_log.disabled = app_log.disabled, True
    try:
        with gradebook.engine.begin() as connection:
            gradebook.db.configure(bind=connection, join_transaction_mode="rollback_only")
            # nbgrader queries while it builds a submission; a flush in between warns.
            with gradebook.db.no_autoflush:
                yield
                gradebook.db.flush()
    finally:
        app_log.disabled = before
        gradebook.db.remove()
        gradebook.db.configure(bind=gradebook.engine)

# ruff: noqa
"""What attacks try things with."""

import ctypes, errno, os, stat, sys

LIBC = ctypes.CDLL(None, use_errno=True)
REFUSALS = (
    *(errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ESRCH, errno.ENOTTY),
    *(errno.EOPNOTSUPP, errno.EXDEV, errno.EAFNOSUPPORT, errno.ECONNREFUSED),
)


def call(name, *arguments):
    answer = LIBC[name](*arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), name)
    return answer


def connection():
    for number in range(3, 256):
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            pass


def what_succeeds(attempts):
    found = []
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError as error:
            if error.errno not in REFUSALS:
                found.append(f"{name}: {error!r}")
        else:
            found.append(name)
    return found


def ours(name):
    return sys.modules[MODULES[name]]


def patch(module, path, value):
    """Replace what is the grader's own; an attack that cannot is ended, so that it is noticed."""
    try:
        *outer, name = path.split(".")
        owner = ours(module)
        for part in outer:
            owner = vars(owner)[part]
        assert name in vars(owner)
        setattr(owner, name, value)
        assert vars(owner)[name] is value
    except BaseException:
        os._exit(PATCH_FAILED)

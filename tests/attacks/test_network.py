"""Attacks over the network, and over sockets that are no network: nothing is heard outside."""

UNHARMED = (8, {}, "")


def test_no_socket_reaches_anything(attempt):
    """Of any family and kind, in any direction."""
    verdict = attempt(
        """
        import socket


        def to(family, kind, address):
            with socket.socket(family, kind) as one:
                if kind == socket.SOCK_DGRAM:
                    one.sendto(b"here", address)
                else:
                    one.connect(address)


        def listen():
            with socket.create_server(("127.0.0.1", 0)) as one:
                one.accept()


        UNIX, INET, INET6 = socket.AF_UNIX, socket.AF_INET, socket.AF_INET6
        STREAM_, DGRAM = socket.SOCK_STREAM, socket.SOCK_DGRAM
        ATTEMPTS = {
            "tcp": lambda: to(INET, STREAM_, ("127.0.0.1", PORT)),
            "tcp by version 6": lambda: to(INET6, STREAM_, ("::1", PORT)),
            "udp": lambda: to(INET, DGRAM, ("127.0.0.1", UDP_PORT)),
            "unix": lambda: to(UNIX, STREAM_, STREAM),
            "unix datagrams": lambda: to(UNIX, DGRAM, DATAGRAMS),
            "abstract": lambda: to(UNIX, DGRAM, ABSTRACT),
            "raw": lambda: socket.socket(INET, socket.SOCK_RAW, 1),
            "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
            "packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
            "virtual machine": lambda: socket.socket(socket.AF_VSOCK, STREAM_),
            "cryptography": lambda: socket.socket(38, socket.SOCK_SEQPACKET),
            "listen": listen,
            "create_connection": lambda: socket.create_connection(("127.0.0.1", PORT), 1),
        }
        """
    )
    assert verdict == UNHARMED


def test_no_pair_of_sockets_reaches_anything(attempt):
    """A pair needs no address; one of datagrams can be told one all the same."""
    verdict = attempt(
        """
        import socket


        def by_pair(family, kind, address):
            for one in socket.socketpair(family, kind):
                one.sendto(b"here", address)


        ATTEMPTS = {
            "datagrams": lambda: by_pair(socket.AF_UNIX, socket.SOCK_DGRAM, DATAGRAMS),
            "abstract": lambda: by_pair(socket.AF_UNIX, socket.SOCK_DGRAM, ABSTRACT),
            "cluster": lambda: by_pair(socket.AF_TIPC, socket.SOCK_RDM, (1, 0, 0, 0)),
        }
        """
    )
    assert verdict == UNHARMED


def test_the_connection_reaches_nobody_else(attempt):
    """The one socket there is can be neither bound nor connected, and passes no descriptors."""
    verdict = attempt(
        """
        import array, socket


        def own():
            return socket.socket(fileno=os.dup(connection()))


        def pass_descriptor():
            numbers = array.array("i", [0])
            own().sendmsg([b""], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])


        ATTEMPTS = {
            "bind": lambda: own().bind("attack-socket"),
            "connect": lambda: own().connect(STREAM),
            "listen": lambda: own().listen(),
            "accept": lambda: own().accept(),
            "pass a descriptor": pass_descriptor,
            "take a descriptor": lambda: own().recvmsg(1, 1000, socket.MSG_DONTWAIT),
        }
        """
    )
    assert verdict == UNHARMED


def test_names_are_not_looked_up(attack):
    """Neither through the system's resolver nor by hand, and no library gets further."""
    verdict = attack(
        """
        import http.client, socket, urllib.request


        def double(x):
            for attempt in (
                lambda: socket.getaddrinfo("example.org", 80),
                lambda: socket.gethostbyname("example.org"),
                lambda: urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=1),
                lambda: http.client.HTTPConnection("127.0.0.1", PORT, timeout=1).request("GET", "/"),
            ):
                try:
                    attempt()
                except OSError:
                    continue
                raise AssertionError("something answered")
            return x + x
        """,
    )
    assert verdict == UNHARMED


def test_event_loops_still_work(attack):
    """`asyncio` wakes itself through a pair of sockets; that is honest."""
    verdict = attack(
        """
        import asyncio


        async def doubled(x):
            await asyncio.sleep(0)
            return x + x


        def double(x):
            return asyncio.run(doubled(x))
        """
    )
    assert verdict == UNHARMED

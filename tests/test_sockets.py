"""Connections of the server send small messages at once."""

import socket

from ui.shell.sockets import send_at_once


def accepted(server: socket.socket) -> int:
    """Whether a new connection waits for nobody before it sends."""
    with socket.create_connection(server.getsockname()), server.accept()[0] as connection:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_connections_have_it_from_the_socket_that_listens():
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert not accepted(server)
        send_at_once()
        assert accepted(server)

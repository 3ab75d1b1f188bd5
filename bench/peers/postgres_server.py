"""PostgreSQL (PyPI pgserver) for the peers, with the settings of a production server."""

import os
import subprocess

import pgserver
import psycopg2

TOOLS = os.path.join(os.path.dirname(pgserver.__file__), "pginstall/bin")
SETTINGS = ("shared_buffers='1GB'", "work_mem='64MB'", "maintenance_work_mem='1GB'", "max_wal_size='4GB'", "jit=off")


def restart(uri, directory):
    """Some settings take effect only at a start. When run as root, pgserver runs the server as a separate user."""
    connection = psycopg2.connect(uri)
    connection.autocommit = True
    for setting in SETTINGS:
        connection.cursor().execute("alter system set " + setting)
    connection.close()
    user = "pgserver" if os.geteuid() == 0 else None
    command = [os.path.join(TOOLS, "pg_ctl"), "-D", directory, "restart", "-m", "fast", "-w", "-l", os.path.join(directory, "log")]
    subprocess.run(command, user=user, stdout=subprocess.DEVNULL, check=True)

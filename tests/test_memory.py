"""What has been loaded is not looked at again."""

import gc

from ui import memory


def test_objects_are_taken_out_of_the_collection_once(monkeypatch):
    monkeypatch.setattr(memory, "_done", set())
    before = gc.get_freeze_count()
    try:
        memory.keep("first")
        frozen = gc.get_freeze_count()
        assert frozen > before
        memory.keep("first")
        assert gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()

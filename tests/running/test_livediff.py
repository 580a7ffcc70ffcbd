"""`packyard deploy --diff` shows what the user changes: no temporary files, and nothing that the cluster counts."""

from __future__ import annotations

from packyard.running.runs.livediff import readable

MAP = b"""\
diff -u -N /tmp/LIVE-12/v1.ConfigMap.ml.x /tmp/MERGED-34/v1.ConfigMap.ml.x
--- /tmp/LIVE-12/v1.ConfigMap.ml.x\t2026-11-26 01:00:00.000000000 +0000
+++ /tmp/MERGED-34/v1.ConfigMap.ml.x\t2026-11-26 01:00:00.000000000 +0000
@@ -1,6 +1,6 @@
 apiVersion: v1
 data:
-  EPOCHS: "1"
+  EPOCHS: "2"
 kind: ConfigMap
 metadata:
   creationTimestamp: "2026-11-26T01:00:00Z"
"""
JOB = b"""\
diff -u -N /tmp/LIVE-12/apps.v1.Deployment.ml.x /tmp/MERGED-34/apps.v1.Deployment.ml.x
--- /tmp/LIVE-12/apps.v1.Deployment.ml.x\t2026-11-26 01:00:00.000000000 +0000
+++ /tmp/MERGED-34/apps.v1.Deployment.ml.x\t2026-11-26 01:00:00.000000000 +0000
@@ -4,5 +4,5 @@
   creationTimestamp: "2026-11-26T01:00:00Z"
-  generation: 1
+  generation: 2
   name: x
   namespace: ml
"""


def test_shows_fields_that_change_with_names_of_objects() -> None:
    assert readable(MAP).decode() == (
        "--- cluster/v1.ConfigMap.ml.x\n+++ package/v1.ConfigMap.ml.x\n@@ -1,6 +1,6 @@\n apiVersion: v1\n data:\n"
        '-  EPOCHS: "1"\n+  EPOCHS: "2"\n kind: ConfigMap\n metadata:\n'
    ).replace("-1,6 +1,6", "-1,5 +1,5")


def test_an_object_of_which_only_counts_differ_is_left_out() -> None:
    assert readable(JOB) == b""
    assert readable(MAP + JOB) == readable(JOB + MAP) == readable(MAP)


def test_a_diff_in_a_form_of_the_user_s_own_stays() -> None:
    assert readable(b"~ EPOCHS: 1 -> 2\n") == b"~ EPOCHS: 1 -> 2\n"
    assert readable(b"") == b""

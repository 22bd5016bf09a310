/* Attempts that were lost with their worker: see lost.h. */

#include "metrics/lost.h"
#include "record/chunk.h"
#include "util/size.h"

/* Which chunk, and who ran it; strings are the same if their numbers are */
static uint64_t key_of(const struct run_value *values)
{
        static const enum chunk_field fields[] = { CHUNK_FILE, CHUNK_TREE, CHUNK_ENTRY_START,
                                                   CHUNK_ENTRY_STOP, CHUNK_WORKER };
        uint64_t key = 0;

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(fields); i++)
                key = run_hash(key, &values[fields[i]].integer, sizeof(int64_t));
        return key;
}

/* Without a file or a worker nothing can be said to be the same. */
static bool is_known(const struct run_value *values)
{
        return values[CHUNK_FILE].type == RUN_INT && values[CHUNK_WORKER].type == RUN_INT;
}

/* Nearly always there are none, which SQLite tells faster than a walk over all rows. */
static int any_lost(struct roast_run *run, struct roast_error *error)
{
        sqlite3_stmt *stmt;
        int rc, any = 0;

        rc = sqlite3_prepare_v2(run->db, "SELECT 1 FROM chunk WHERE outcome=? LIMIT 1", -1, &stmt,
                                NULL);
        if (rc == SQLITE_OK)
                rc = sqlite3_bind_int(stmt, 1, CHUNK_LOST);
        if (rc == SQLITE_OK) {
                rc = sqlite3_step(stmt);
                any = rc == SQLITE_ROW;
        }
        sqlite3_finalize(stmt);
        if (rc != SQLITE_ROW && rc != SQLITE_DONE)
                return run_fail_sqlite(run, rc, "cannot be read", error);
        return any;
}

int lost_collect(struct run_seen *lost, struct roast_run *run, struct roast_error *error)
{
        struct run_scan scan;
        int r;

        r = any_lost(run, error);
        if (r <= 0)
                return r;
        r = run_scan_begin(&scan, run, RUN_CHUNK, error);
        while (r >= 0 && (r = run_scan_next(&scan, error)) > 0)
                if (scan.values[CHUNK_OUTCOME].integer == CHUNK_LOST && is_known(scan.values) &&
                    run_seen_add(lost, key_of(scan.values)) < 0)
                        r = roast_fail_nomem(error);
        run_scan_end(&scan);
        return r;
}

bool lost_has(const struct run_seen *lost, const struct run_value *values)
{
        return lost->n && is_known(values) && run_seen_has(lost, key_of(values));
}

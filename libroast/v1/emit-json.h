#pragma once
/*
 * The documented dicts as JSON, as api.md has them: keys that are tuples are what
 * Python's repr() shows, times are what isoformat() gives.
 */

#include "util/emit.h"
#include "util/json.h"

struct emit_json {
        struct emit emit;
        struct json *json;
        bool is_key;     /* the next value is one */
        bool in_tuple;   /* which is a key */
        struct buf repr; /* what there is of it */
};

void emit_json_init(struct emit_json *self, struct json *json);
void emit_json_deinit(struct emit_json *self);

#pragma once
/*
 * The runs that are served: one, or those of a directory
 *
 * A run is known by its file's name without the ending. Entries are never
 * removed: a request may hold one. Whose file has been deleted is not found
 * until there is a file of that name again.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roast-error.h"

/* What was made of a run when it was looked at last; shared by all who ask */
enum served_part { SERVED_METRICS, SERVED_DATA, SERVED_OPENMETRICS, SERVED_N_PARTS };

struct served_bytes {
        int references;
        size_t len;
        unsigned char data[];
};

struct served {
        char *id;
        char *path;
        struct served *next;
        pthread_mutex_t lock; /* of what follows */
        uint64_t version;     /* goes up when the file has changed */
        uint64_t stamp;       /* of the file, when the version was taken */
        int64_t looked_ns;    /* when that was */
        int64_t cost_ns;      /* of making the dearest part */
        struct {
                uint64_t version;
                struct served_bytes *bytes;
        } parts[SERVED_N_PARTS];
};

struct catalog {
        const char *path;
        bool single;
        pthread_mutex_t lock;
        struct served *first;
};

int catalog_init(struct catalog *catalog, const char *path, struct roast_error *error);
void catalog_deinit(struct catalog *catalog);
/* Looks for runs that came since the last call. */
int catalog_refresh(struct catalog *catalog, struct roast_error *error);
/* The run with that id, also if it came since the last refresh, or NULL */
struct served *catalog_find(struct catalog *catalog, const char *id);
/* The run behind this one, or for NULL the first; NULL: there is none */
struct served *catalog_next(struct catalog *catalog, const struct served *served);
/* Of those that open, the one that was written to last; if none opens, of all; NULL: there is none
 */
struct served *catalog_latest(struct catalog *catalog);

/*
 * The version that holds now; 0: somebody is making a part of it. Looks at the file not more
 * often than is cheap.
 */
uint64_t served_version(struct served *served);
/* A part as it is now, which served_bytes_unref() gives back, and its version */
int served_part(struct served *served, enum served_part part, struct served_bytes **ret,
                uint64_t *version, struct roast_error *error);
void served_bytes_unref(struct served_bytes *bytes);

/* Which runs there are in a directory, and in what state: see list.h. */

#include <errno.h>
#include <string.h>

#include "run/list.h"

bool run_has_ending(const char *name, size_t len)
{
        size_t ending = strlen(RUN_ENDING);

        return len > ending && !memcmp(name + len - ending, RUN_ENDING, ending);
}

static int list_is_run(const struct dirent *entry)
{
        return entry->d_name[0] != '.' && run_has_ending(entry->d_name, strlen(entry->d_name));
}

int run_list(struct dirent ***entries, const char *directory, struct roast_error *error)
{
        int n = scandir(directory, entries, list_is_run, versionsort);

        return n < 0 ? roast_fail(error, ROAST_E_IO, "%s: %s", directory, strerror(errno)) : n;
}

const char *run_state(const struct roast_run_about *about)
{
        return about->outcome ? about->outcome : "unfinished";
}

/* roast serve: hands over to roast-serve, which stands beside this program */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

int verb_serve(int argc, char **argv)
{
        static const char name[] = "roast-serve";
        char path[PATH_MAX];
        ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof(name));
        char *end;

        (void)argc;
        if (len < 0)
                return cli_fail("serve", "/proc/self/exe: %s", strerror(errno));
        path[len] = '\0';
        end = strrchr(path, '/');
        memcpy(end ? end + 1 : path, name, sizeof(name));
        execv(path, argv);
        return cli_fail("serve", "%s: %s", path, strerror(errno));
}

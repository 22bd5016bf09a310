#pragma once
/*
 * What ends a program waits
 *
 *     ROAST_CLEANUP(hold_end) sigset_t before = hold_begin();
 *
 * lets SIGINT, SIGTERM and SIGHUP wait until the scope is left, so that nothing
 * stays behind under a temporary name. For work of seconds.
 */

#include <signal.h>

static inline sigset_t hold_begin(void)
{
        sigset_t held, before;

        sigemptyset(&held);
        sigaddset(&held, SIGINT);
        sigaddset(&held, SIGTERM);
        sigaddset(&held, SIGHUP);
        pthread_sigmask(SIG_BLOCK, &held, &before);
        return before;
}

static inline void hold_end(sigset_t *before)
{
        pthread_sigmask(SIG_SETMASK, before, NULL);
}

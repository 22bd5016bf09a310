/* A background thread that does something now and then: see ticker.h */

#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "probe/platform.h"
#include "probe/ticker.h"
#include "roast-error.h"
#include "util/clock.h"

#define TICKER_STACK_BYTES (256 * 1024)
#define TICKER_NAP_NS      20000000

/* The list is there for fork() alone. Its lock comes before the locks of its members. */
static pthread_mutex_t tickers_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t tickers_once = PTHREAD_ONCE_INIT;
static struct ticker *tickers;

static int ticker_init_wake(struct ticker *ticker)
{
        pthread_condattr_t attr;
        int r;

        if (pthread_condattr_init(&attr))
                return ROAST_E_NOMEM;
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        r = pthread_cond_init(&ticker->wake, &attr);
        pthread_condattr_destroy(&attr);
        return r ? ROAST_E_NOMEM : 0;
}

static void ticker_prepare_fork(void)
{
        pthread_mutex_lock(&tickers_lock);
        for (struct ticker *ticker = tickers; ticker; ticker = ticker->next)
                pthread_mutex_lock(&ticker->lock);
}

static void ticker_forked_parent(void)
{
        for (struct ticker *ticker = tickers; ticker; ticker = ticker->next)
                pthread_mutex_unlock(&ticker->lock);
        pthread_mutex_unlock(&tickers_lock);
}

/* The condition has a waiter that is gone: it is made anew, not destroyed. */
static void ticker_forked_child(void)
{
        for (struct ticker *ticker = tickers; ticker; ticker = ticker->next) {
                ticker->runs = false;
                ticker->joinable = false;
                ticker->wanted = false;
                ticker->stops = false;
                ticker->cpu_ns = 0;
                ticker_init_wake(ticker);
                pthread_mutex_unlock(&ticker->lock);
                if (ticker->calls->forked)
                        ticker->calls->forked(ticker);
        }
        pthread_mutex_unlock(&tickers_lock);
}

static void ticker_init_forks(void)
{
        pthread_atfork(ticker_prepare_fork, ticker_forked_parent, ticker_forked_child);
}

int ticker_init(struct ticker *ticker, const struct ticker_calls *calls)
{
        *ticker = (struct ticker){ .calls = calls };
        if (pthread_mutex_init(&ticker->lock, NULL))
                return ROAST_E_NOMEM;
        if (ticker_init_wake(ticker) < 0) {
                pthread_mutex_destroy(&ticker->lock);
                return ROAST_E_NOMEM;
        }
        pthread_once(&tickers_once, ticker_init_forks);
        pthread_mutex_lock(&tickers_lock);
        ticker->next = tickers;
        tickers = ticker;
        pthread_mutex_unlock(&tickers_lock);
        return 0;
}

void ticker_deinit(struct ticker *ticker)
{
        ticker_stop(ticker);
        pthread_mutex_lock(&tickers_lock);
        for (struct ticker **link = &tickers; *link; link = &(*link)->next) {
                if (*link == ticker) {
                        *link = ticker->next;
                        break;
                }
        }
        pthread_mutex_unlock(&tickers_lock);
        pthread_cond_destroy(&ticker->wake);
        pthread_mutex_destroy(&ticker->lock);
}

/* Under the lock: as below where the clock cannot be read, so that there is no deadline. */
static void ticker_nap(struct ticker *ticker, int64_t delay_ns)
{
        const struct timespec nap = { .tv_nsec = TICKER_NAP_NS };

        for (; delay_ns > 0 && !ticker->stops; delay_ns -= TICKER_NAP_NS) {
                pthread_mutex_unlock(&ticker->lock);
                nanosleep(&nap, NULL);
                pthread_mutex_lock(&ticker->lock);
        }
}

/* Under the lock; returns when it is time or the thread is to stop. */
static void ticker_sleep(struct ticker *ticker, int64_t delay_ns)
{
        int64_t now_ns = clock_monotonic_ns(), until = now_ns + delay_ns;
        struct timespec deadline = {
                .tv_sec = (time_t)(until / 1000000000),
                .tv_nsec = (long)(until % 1000000000),
        };

        if (now_ns < 0) {
                ticker_nap(ticker, delay_ns);
                return;
        }
        while (!ticker->stops &&
               pthread_cond_timedwait(&ticker->wake, &ticker->lock, &deadline) == 0)
                ;
}

static void *ticker_main(void *argument)
{
        struct ticker *ticker = argument;
        int64_t before_ns = ticker->cpu_ns, delay_ns, cpu_ns;

        pthread_mutex_lock(&ticker->lock);
        while (!ticker->stops) {
                ticker->wanted = false;
                pthread_mutex_unlock(&ticker->lock);
                delay_ns = ticker->calls->tick(ticker);
                cpu_ns = clock_thread_cpu_ns();
                if (cpu_ns >= 0)
                        ticker->cpu_ns = before_ns + cpu_ns;
                pthread_mutex_lock(&ticker->lock);
                if (delay_ns >= 0)
                        ticker_sleep(ticker, delay_ns);
                else if (!ticker->wanted)
                        break;
        }
        ticker->runs = false;
        pthread_mutex_unlock(&ticker->lock);
        /* Whoever starts it again joins this thread first. */
        if (ticker->calls->ended)
                ticker->calls->ended(ticker);
        return NULL;
}

/* Under the lock. The new thread inherits a mask in which every signal is blocked. */
static int ticker_create(struct ticker *ticker)
{
        pthread_attr_t attr, *small = NULL;
        sigset_t all, before;
        int r;

        if (!pthread_attr_init(&attr)) {
                pthread_attr_setstacksize(&attr, TICKER_STACK_BYTES);
                small = &attr;
        }
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&ticker->thread, small, ticker_main, ticker);
        if (r && small) /* thread-local data of the program may be larger than that */
                r = pthread_create(&ticker->thread, NULL, ticker_main, ticker);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (small)
                pthread_attr_destroy(small);
        if (r)
                return ROAST_E_NOMEM;
        probe_thread_set_name(ticker->thread, ticker->calls->name);
        return 0;
}

int ticker_start(struct ticker *ticker)
{
        int r = 0;

        pthread_mutex_lock(&ticker->lock);
        while (ticker->stops)
                pthread_cond_wait(&ticker->wake, &ticker->lock);
        ticker->wanted = true;
        if (!ticker->runs) {
                if (ticker->joinable) /* it has let go of the lock for good */
                        pthread_join(ticker->thread, NULL);
                r = ticker_create(ticker);
                ticker->joinable = ticker->runs = r == 0;
        }
        pthread_mutex_unlock(&ticker->lock);
        return r;
}

void ticker_stop(struct ticker *ticker)
{
        pthread_t thread;

        pthread_mutex_lock(&ticker->lock);
        if (ticker->joinable && !ticker->stops) {
                ticker->stops = true;
                thread = ticker->thread;
                pthread_cond_broadcast(&ticker->wake);
                pthread_mutex_unlock(&ticker->lock);
                pthread_join(thread, NULL);
                pthread_mutex_lock(&ticker->lock);
                ticker->joinable = false;
                ticker->runs = false;
                ticker->stops = false;
                pthread_cond_broadcast(&ticker->wake);
        }
        pthread_mutex_unlock(&ticker->lock);
}

bool ticker_runs(struct ticker *ticker)
{
        bool runs;

        pthread_mutex_lock(&ticker->lock);
        runs = ticker->runs;
        pthread_mutex_unlock(&ticker->lock);
        return runs;
}

int64_t ticker_cpu_ns(struct ticker *ticker)
{
        return atomic_load(&ticker->cpu_ns);
}

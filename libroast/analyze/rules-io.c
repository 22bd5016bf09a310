/* Rules about reading: waiting for it, reading too much, reading it again */

#include <string.h>

#include "analyze/rule.h"

/* What unpacking is taken to cost where nothing tells it: bytes before compression, per second */
#define UNPACK_BYTES_PER_S 500e6

static bool rules_is_remote(const struct study *study, uint32_t file)
{
        size_t len;
        const char *name = study_text(study, file, &len);
        const char *scheme = name ? memmem(name, len, "://", 3) : NULL;

        return scheme && !(scheme == name + 4 && !memcmp(name, "file", 4));
}

/* The share of the chunks' time that was spent on files of other hosts */
static double rules_remote_share(const struct study *study)
{
        double remote_s = 0;
        uint32_t last = STUDY_NONE;
        bool last_remote = false;

        for (size_t i = 0; i < study->n_chunks; i++) {
                const struct study_chunk *chunk = &study->chunks[i];

                if (chunk->file != last) {
                        last = chunk->file;
                        last_remote = rules_is_remote(study, last);
                }
                remote_s += last_remote ? (double)chunk->wall_s : 0;
        }
        return study->wall_s > 0 ? remote_s / study->wall_s : 0;
}

/* Waiting for a disk, and for what is probably the network; both in seconds of process() */
static void rules_waits(const struct study *study, double *disk_s, double *network_s)
{
        const struct split_sum *split = &study->split;
        double other;

        *disk_s = *network_s = 0;
        if (split->samples <= 0)
                return;
        other = split->samples - split->block_io_samples - split->gil_samples;
        *disk_s = split->asleep_ns / 1e9 * split->block_io_samples / split->samples;
        *network_s = split->asleep_ns / 1e9 * other / split->samples * rules_remote_share(study);
}

int rule_io_bound(const struct study *study, double limit, struct verdict *verdict)
{
        const struct split_sum *split = &study->split;
        double disk_s, network_s, wall_s = split->wall_ns / 1e9, share;

        if (split->chunks == 0)
                return verdict_why_not(verdict, "no chunk tells where its time went");
        if (split->samples < RULE_LOOKS_LEAST)
                return verdict_why_not(verdict, "only %.0f looks met a chunk asleep",
                                       split->samples);
        rules_waits(study, &disk_s, &network_s);
        share = wall_s > 0 ? (disk_s + network_s) / wall_s : 0;
        if (share < limit)
                return verdict_why_not(verdict, "chunks waited %.1f %% of their time for reading",
                                       100 * share);
        verdict_fire(verdict, study, disk_s + network_s, "Chunks wait %.0f %% of their time for %s",
                     100 * share, disk_s >= network_s ? "disks" : "files on other hosts");
        verdict->finding.estimated = true;
        verdict_evidence(verdict,
                         "disks %s, other waits over remote files %s, of %s in process(); "
                         "from %.0f looks at sleeping threads",
                         say_s(disk_s), say_s(network_s), say_s(wall_s), split->samples);
        if (study->all_bytes > 0 && disk_s + network_s > 0)
                verdict_evidence(verdict, "%s were read: %s per second of waiting",
                                 say_bytes(study->all_bytes),
                                 say_bytes(study->all_bytes / (disk_s + network_s)));
        return 0;
}

/* Time that reading so many compressed bytes more took: their share of the waits, and unpacking */
static double rules_reading_s(const struct study *study, double bytes)
{
        double disk_s, network_s;

        rules_waits(study, &disk_s, &network_s);
        return (disk_s + network_s) * bytes / fmax(study->all_bytes, bytes) +
               bytes * study->expansion / UNPACK_BYTES_PER_S;
}

static void rules_name_branches(struct verdict *verdict, const struct study *study)
{
        size_t len;
        const char *names = study_text(study, study->unused_names, &len), *end;

        end = names ? names + len : NULL;
        for (int i = 0; names && names < end && i < 20; i++) {
                const char *stop = memchr(names, '\n', (size_t)(end - names));
                size_t n = (size_t)((stop ? stop : end) - names);

                verdict_name(verdict, "branch", names, n, "never touched");
                names = stop ? stop + 1 : end;
        }
}

int rule_unused_branches(const struct study *study, double limit, struct verdict *verdict)
{
        double share = study->unused_bytes / fmax(study->all_bytes, study->unused_bytes);
        double read_s, ahead_s;

        if (!(study->all_bytes > 0))
                return verdict_why_not(verdict, "no chunk tells how many bytes it read");
        if (!(study->unused_bytes > 0) || share < limit)
                return verdict_why_not(verdict,
                                       "%.1f %% of the bytes were read ahead and never "
                                       "touched",
                                       100 * share);
        /*
         * Reading ahead happens before process(), in the gap between chunks: what is not explained
         * by reading at the assumed rate cannot exceed that.
         */
        ahead_s = study->typical_gap_s * (double)study->n_chunks;
        read_s = rules_reading_s(study, study->unused_bytes);
        if (ahead_s > 0)
                read_s = fmax(read_s, ahead_s * study->unused_bytes / study->ahead_bytes);
        verdict_fire(verdict, study, read_s,
                     "%.0f %% of the bytes are read ahead and never touched", 100 * share);
        verdict->finding.estimated = true;
        verdict_evidence(verdict, "%s of %s, in %s chunks", say_bytes(study->unused_bytes),
                         say_bytes(study->all_bytes), say_count(study->unused_chunks));
        verdict_evidence(verdict,
                         "%s between two chunks of a thread, in which files are opened "
                         "and branches read ahead; the saving is the unused bytes' share "
                         "of that, at most",
                         say_s(study->typical_gap_s));
        rules_name_branches(verdict, study);
        return 0;
}

int rule_rereads(const struct study *study, double limit, struct verdict *verdict)
{
        double more = study->requested_bytes - study->needed_once_bytes, times;

        if (!(study->needed_once_bytes > 0))
                return verdict_why_not(verdict, "no chunk tells the bytes of its branches");
        times = study->requested_bytes / study->needed_once_bytes;
        if (times < limit)
                return verdict_why_not(verdict, "%.2f times the bytes of the branches were read",
                                       times);
        verdict_fire(verdict, study, rules_reading_s(study, more),
                     "Baskets are read %.1f times, because chunk borders cut them", times);
        verdict->finding.estimated = true;
        verdict_evidence(verdict, "%s were requested where the branches have %s",
                         say_bytes(study->requested_bytes), say_bytes(study->needed_once_bytes));
        return verdict_evidence(verdict, "the saving takes unpacking at %s/s",
                                say_bytes(UNPACK_BYTES_PER_S));
}

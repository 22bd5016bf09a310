/*
 * Size and speed of the series codec on a recorded run
 *
 *     build/bench/bench-timeline [workers_10hz.csv]
 *
 * Reads the samples of several workers, brings each series to its resolution
 * (docs/format-series.md), cuts the rows of each worker into blocks, and tells
 * the bytes per sample and the samples per second of one core, for all rows and
 * for every tenth row (10 Hz and 1 Hz). Beside it stands the plain coding:
 * differences as zigzag varints, zstd level 3 per column. The bounds are those
 * of blocks of the size that the run file has.
 *
 * A sample is one value of one series. The bytes of the time column and of
 * all headers count, the time stamps do not count as samples. Every block is
 * decoded and compared before anything is timed.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "result.h"
#include "timeline/block.h"
#include "util/cleanup.h"
#include "util/size.h"

#define DEFAULT_PATH "../shared/data/series/workers_10hz.csv"
#define SEPARATORS   ",\r\n"
#define WORKERS_MAX  16
#define COLUMNS_MAX  32
#define TIMED_S      0.5
#define PASSES       5

/* Rows of a block in the run file, and what is asked of such blocks. */
#define RUN_FILE_ROWS    120
#define ENCODE_PER_S_MIN 20e6
#define DECODE_PER_S_MIN 50e6

/* Units per resolution step; series that are not listed are counted in ones. */
static const struct resolution {
        const char *name;
        double step;
} resolutions[] = {
        { "time_ns", 1e6 },      { "cpu_ns", 1e7 },
        { "rss_bytes", 4096 },   { "event_loop_interval_s", 1e-3 },
        { "cpu_percent", 1e-3 },
};

struct worker {
        size_t n, cap;
        int64_t *columns[COLUMNS_MAX]; /* [0] is the time */
};

struct recording {
        size_t columns;
        double steps[COLUMNS_MAX];
        size_t workers;
        struct worker worker[WORKERS_MAX];
};

/* The encoded blocks of a recording, one after the other. */
struct archive {
        size_t samples;
        size_t blocks;
        size_t *ends;
        struct buf bytes;
};

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "bench-timeline: %s\n", what);
        exit(1);
}

static void *checked(void *memory)
{
        if (!memory)
                die("out of memory");
        return memory;
}

static void archive_deinit(struct archive *archive)
{
        free(archive->ends);
        buf_deinit(&archive->bytes);
}

/* ---- reading ---- */

static void read_names(struct recording *recording, char *line)
{
        char *name = strtok(line, SEPARATORS);

        if (!name || strcmp(name, "worker") != 0)
                die("the first column is not the worker");
        while ((name = strtok(NULL, SEPARATORS))) {
                double step = 1;

                for (size_t i = 0; i < ROAST_ARRAY_SIZE(resolutions); i++)
                        if (strcmp(resolutions[i].name, name) == 0)
                                step = resolutions[i].step;
                if (recording->columns == COLUMNS_MAX)
                        die("too many series");
                recording->steps[recording->columns++] = step;
        }
}

/*
 * Integers are rounded as integers: a time stamp in ns does not fit into a
 * double. A fraction where none is expected would be lost: it is refused.
 */
static int64_t quantise(const char *text, double step)
{
        int64_t value;
        char *end;

        if (step >= 1) {
                int64_t unit = (int64_t)step;

                value = (strtoll(text, &end, 10) + unit / 2) / unit;
        } else {
                value = llround(strtod(text, &end) / step);
        }
        if (*end)
                die("a value is not of the kind that its series has");
        return value;
}

static void read_row(struct recording *recording, char *line)
{
        size_t index = strtoul(strtok(line, SEPARATORS), NULL, 10);
        struct worker *worker;

        if (index >= WORKERS_MAX)
                die("too many workers");
        if (index >= recording->workers)
                recording->workers = index + 1;
        worker = &recording->worker[index];
        if (worker->n == worker->cap) {
                worker->cap = worker->cap ? 2 * worker->cap : 1024;
                for (size_t i = 0; i < recording->columns; i++)
                        worker->columns[i] = checked(
                                reallocarray(worker->columns[i], worker->cap, sizeof(int64_t)));
        }
        for (size_t i = 0; i < recording->columns; i++) {
                const char *text = strtok(NULL, SEPARATORS);

                if (!text)
                        die("a row is too short");
                worker->columns[i][worker->n] = quantise(text, recording->steps[i]);
        }
        worker->n++;
}

static void recording_read(struct recording *recording, const char *path)
{
        ROAST_CLEANUP(cleanup_free) char *line = NULL;
        FILE *file = fopen(path, "re");
        size_t cap = 0;

        if (!file)
                die(strerror(errno));
        if (getline(&line, &cap, file) < 0)
                die("the file is empty");
        read_names(recording, line);
        while (getline(&line, &cap, file) >= 0)
                read_row(recording, line);
        fclose(file);
}

static void recording_deinit(struct recording *recording)
{
        for (size_t i = 0; i < recording->workers; i++)
                for (size_t j = 0; j < recording->columns; j++)
                        free(recording->worker[i].columns[j]);
}

/* Every stride-th row of each worker. */
static void recording_thin(struct recording *thin, const struct recording *full, size_t stride)
{
        *thin = *full;
        for (size_t i = 0; i < full->workers; i++) {
                const struct worker *from = &full->worker[i];
                struct worker *to = &thin->worker[i];

                to->n = (from->n + stride - 1) / stride;
                for (size_t j = 0; j < full->columns; j++) {
                        to->columns[j] = checked(calloc(to->n + 1, sizeof(int64_t)));
                        for (size_t row = 0; row < to->n; row++)
                                to->columns[j][row] = from->columns[j][row * stride];
                }
        }
}

/* ---- the two codecs, behind one face ---- */

struct codec {
        void (*encode)(struct buf *out, const int64_t *const *columns, size_t n, size_t k);
        void (*decode)(struct block *block, const uint8_t *data, size_t len);
};

static void roast_encode(struct buf *out, const int64_t *const *columns, size_t n, size_t k)
{
        if (block_encode(out, columns[0], columns + 1, n, k - 1, NULL) < 0)
                die("block_encode failed");
}

static void roast_decode(struct block *block, const uint8_t *data, size_t len)
{
        if (block_decode(block, data, len, NULL) < 0)
                die("block_decode failed");
}

/* n and k as varints; of each column: the length and the zstd frame. */
static void plain_encode(struct buf *out, const int64_t *const *columns, size_t n, size_t k)
{
        static uint8_t frame[1 << 20];
        ROAST_CLEANUP(buf_deinit) struct buf varints = BUF_INIT;

        buf_put_varint(out, n);
        buf_put_varint(out, k);
        for (size_t i = 0; i < k; i++) {
                uint64_t before = 0;
                size_t len;

                buf_clear(&varints);
                for (size_t row = 0; row < n; row++) {
                        buf_put_zigzag(&varints, (int64_t)((uint64_t)columns[i][row] - before));
                        before = (uint64_t)columns[i][row];
                }
                len = ZSTD_compress(frame, sizeof(frame), varints.data, varints.len, 3);
                if (ZSTD_isError(len))
                        die("ZSTD_compress failed");
                buf_put_bytes(out, frame, len);
        }
}

static void plain_decode(struct block *block, const uint8_t *data, size_t len)
{
        static uint8_t varints[1 << 20];
        struct cursor cursor = cursor_init(data, len);
        size_t n = (size_t)cursor_varint(&cursor), k = (size_t)cursor_varint(&cursor);

        if (n * k > block->cap) {
                free(block->data);
                block->data = checked(calloc(n * k, sizeof(int64_t)));
                block->cap = n * k;
        }
        block->n = n;
        block->k = k - 1;
        block->times = block->data;
        block->values = block->data + n;
        for (size_t i = 0; i < k; i++) {
                size_t size;
                const uint8_t *frame = cursor_bytes(&cursor, &size);
                struct cursor column;
                uint64_t value = 0;

                size = ZSTD_decompress(varints, sizeof(varints), frame, size);
                if (ZSTD_isError(size))
                        die("ZSTD_decompress failed");
                column = cursor_init(varints, size);
                for (size_t row = 0; row < n; row++) {
                        value += (uint64_t)cursor_zigzag(&column);
                        block->data[i * n + row] = (int64_t)value;
                }
        }
}

static const struct codec codec_roast = { roast_encode, roast_decode };
static const struct codec codec_plain = { plain_encode, plain_decode };
static const char plain_name[] = "varints and zstd";

/* ---- measuring ---- */

static size_t rows_in_block(const struct worker *worker, size_t row, size_t rows)
{
        return worker->n - row < rows ? worker->n - row : rows;
}

static void archive_encode(struct archive *archive, const struct recording *recording,
                           const struct codec *codec, size_t rows)
{
        archive->blocks = archive->samples = 0;
        buf_clear(&archive->bytes);
        for (size_t i = 0; i < recording->workers; i++) {
                const struct worker *worker = &recording->worker[i];

                for (size_t row = 0; row < worker->n; row += rows) {
                        const int64_t *columns[COLUMNS_MAX];
                        size_t n = rows_in_block(worker, row, rows);

                        for (size_t j = 0; j < recording->columns; j++)
                                columns[j] = worker->columns[j] + row;
                        codec->encode(&archive->bytes, columns, n, recording->columns);
                        archive->ends[archive->blocks++] = archive->bytes.len;
                        archive->samples += n * (recording->columns - 1);
                }
        }
}

static void archive_decode(const struct archive *archive, const struct codec *codec,
                           struct block *block)
{
        size_t start = 0;

        for (size_t i = 0; i < archive->blocks; i++) {
                codec->decode(block, archive->bytes.data + start, archive->ends[i] - start);
                start = archive->ends[i];
        }
}

static void archive_compare(const struct archive *archive, const struct recording *recording,
                            const struct codec *codec, size_t rows)
{
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        size_t start = 0, index = 0;

        for (size_t i = 0; i < recording->workers; i++) {
                const struct worker *worker = &recording->worker[i];

                for (size_t row = 0; row < worker->n; row += rows) {
                        size_t n = rows_in_block(worker, row, rows);

                        codec->decode(&block, archive->bytes.data + start,
                                      archive->ends[index] - start);
                        start = archive->ends[index++];
                        if (block.n != n || block.k + 1 != recording->columns)
                                die("a block came back in another shape");
                        for (size_t j = 0; j < recording->columns; j++)
                                if (memcmp(block.data + j * n, worker->columns[j] + row,
                                           n * sizeof(int64_t)) != 0)
                                        die("a block came back with other values");
                }
        }
}

static double cpu_s(void)
{
        struct timespec now;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct figures {
        double bytes_per_sample;
        struct figure encode_per_s;
        struct figure decode_per_s;
};

/*
 * Samples per second of the median pass; a pass repeats until it took
 * TIMED_S / PASSES. Decodes into the block, or encodes if there is none.
 */
static struct figure median_rate(struct archive *archive, const struct recording *recording,
                                 const struct codec *codec, size_t rows, struct block *block)
{
        double rates[PASSES];

        for (size_t pass = 0; pass < PASSES; pass++) {
                double start = cpu_s(), spent;
                size_t samples = 0;

                do {
                        if (block)
                                archive_decode(archive, codec, block);
                        else
                                archive_encode(archive, recording, codec, rows);
                        samples += archive->samples;
                        spent = cpu_s() - start;
                } while (spent < TIMED_S / PASSES);
                rates[pass] = (double)samples / spent;
        }
        return figure_median(rates, PASSES);
}

/* Encodes, and makes sure that the same comes back. */
static void archive_init(struct archive *archive, const struct recording *recording,
                         const struct codec *codec, size_t rows)
{
        size_t blocks = 0;

        for (size_t i = 0; i < recording->workers; i++)
                blocks += recording->worker[i].n / rows + 1;
        archive->ends = checked(calloc(blocks, sizeof(*archive->ends)));
        archive_encode(archive, recording, codec, rows);
        archive_compare(archive, recording, codec, rows);
}

static double bytes_per_sample(const struct archive *archive)
{
        return (double)archive->bytes.len / (double)archive->samples;
}

static struct figures measure(const struct recording *recording, const struct codec *codec,
                              size_t rows)
{
        ROAST_CLEANUP(archive_deinit) struct archive archive = { 0 };
        ROAST_CLEANUP(block_deinit) struct block block = BLOCK_INIT;
        struct figures figures;

        archive_init(&archive, recording, codec, rows);
        figures.bytes_per_sample = bytes_per_sample(&archive);
        figures.encode_per_s = median_rate(&archive, recording, codec, rows, NULL);
        figures.decode_per_s = median_rate(&archive, recording, codec, rows, &block);
        return figures;
}

/* What blocks of the run file's size cost, and what the plain coding does */
static void report_run_file(const char *rate, const struct recording *recording, double bytes_max)
{
        struct figures ours = measure(recording, &codec_roast, RUN_FILE_ROWS);
        struct figures plain = measure(recording, &codec_plain, RUN_FILE_ROWS);
        struct figure size = { ours.bytes_per_sample, 0 };
        char name[64];

        snprintf(name, sizeof(name), "size at %s", rate);
        result_print(&(struct result){ name, size, "B/sample", .at_most = bytes_max });
        result_print(&(struct result){
                name, { ours.bytes_per_sample / plain.bytes_per_sample, 0 }, .of = plain_name });
        snprintf(name, sizeof(name), "encoding at %s", rate);
        result_print(&(struct result){ name, ours.encode_per_s, "samples/s",
                                       .at_least = ENCODE_PER_S_MIN });
        result_print(&(struct result){ name, figure_ratio(ours.encode_per_s, plain.encode_per_s),
                                       .of = plain_name });
        snprintf(name, sizeof(name), "decoding at %s", rate);
        result_print(&(struct result){ name, ours.decode_per_s, "samples/s",
                                       .at_least = DECODE_PER_S_MIN });
        result_print(&(struct result){ name, figure_ratio(ours.decode_per_s, plain.decode_per_s),
                                       .of = plain_name });
}

/* The size in smaller and larger blocks: a worker sends as many rows as it has. */
static void report_rows(const char *rate, const struct recording *recording)
{
        static const size_t rows[] = { 1, 5, 10, 60, 300, 600, 1200 };

        for (size_t i = 0; i < ROAST_ARRAY_SIZE(rows); i++) {
                ROAST_CLEANUP(archive_deinit) struct archive archive = { 0 };
                char name[64];

                archive_init(&archive, recording, &codec_roast, rows[i]);
                snprintf(name, sizeof(name), "size at %s, %zu rows in a block", rate, rows[i]);
                result_print(
                        &(struct result){ name, { bytes_per_sample(&archive), 0 }, "B/sample" });
        }
}

int main(int argc, char **argv)
{
        ROAST_CLEANUP(recording_deinit) struct recording full = { 0 };
        ROAST_CLEANUP(recording_deinit) struct recording thin = { 0 };

        if (argc < 2 && access(DEFAULT_PATH, R_OK) < 0) {
                result_absent("series of a recorded run", "there is no workers_10hz.csv");
                return 0;
        }
        recording_read(&full, argc > 1 ? argv[1] : DEFAULT_PATH);
        recording_thin(&thin, &full, 10);
        report_run_file("10 Hz", &full, 0.50);
        report_run_file("1 Hz", &thin, 0.85);
        report_rows("10 Hz", &full);
        report_rows("1 Hz", &thin);
        return 0;
}

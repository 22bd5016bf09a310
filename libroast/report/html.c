/*
 * The page with its data
 *
 * The data are packed with DEFLATE and written in base64: no byte of them can
 * end the element in which they stand, whatever names a run has.
 */

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/report.h"
#include "roast-export.h"
#include "roast-report.h"
#include "util/cleanup.h"
#include "util/hold.h"

/* Noise hardly gets smaller at any level, and what does get smaller does so at the first. */
#define DEFLATE_LEVEL 1

int report_deflate(struct buf *out, const void *data, size_t len)
{
        struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(DEFLATE_LEVEL);
        size_t bound;
        int r;

        if (!compressor)
                return ROAST_E_NOMEM;
        bound = libdeflate_zlib_compress_bound(compressor, len);
        r = buf_reserve(out, bound);
        if (r >= 0)
                out->len = libdeflate_zlib_compress(compressor, data, len, out->data, bound);
        libdeflate_free_compressor(compressor);
        return r;
}

static int html_put_base64(struct buf *out, const uint8_t *data, size_t len)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        uint8_t *at;

        if (buf_reserve(out, (len + 2) / 3 * 4) < 0)
                return ROAST_E_NOMEM;
        at = out->data + out->len;
        for (size_t i = 0; i < len; i += 3) {
                uint32_t bits = (uint32_t)data[i] << 16;

                bits |= i + 1 < len ? (uint32_t)data[i + 1] << 8 : 0;
                bits |= i + 2 < len ? data[i + 2] : 0;
                *at++ = (uint8_t)digits[bits >> 18];
                *at++ = (uint8_t)digits[bits >> 12 & 63];
                *at++ = i + 1 < len ? (uint8_t)digits[bits >> 6 & 63] : '=';
                *at++ = i + 2 < len ? (uint8_t)digits[bits & 63] : '=';
        }
        out->len = (size_t)(at - out->data);
        return 0;
}

static int html_put_page(struct buf *out, const void *data, size_t len)
{
        ROAST_CLEANUP(buf_deinit) struct buf packed = BUF_INIT;
        int r;

        r = report_deflate(&packed, data, len);
        if (r >= 0)
                r = buf_append(out, report_page_head, report_page_head_len);
        if (r >= 0)
                r = html_put_base64(out, packed.data, packed.len);
        return r < 0 ? r : buf_append(out, report_page_tail, report_page_tail_len);
}

int report_empty_page(struct buf *out)
{
        int r = buf_append(out, report_page_head, report_page_head_len);

        return r < 0 ? r : buf_append(out, report_page_tail, report_page_tail_len);
}

/* The page with the data, which are freed */
static int html_finish_page(char **html, size_t *len, void *data, size_t data_len,
                            struct roast_error *error)
{
        ROAST_CLEANUP(buf_deinit) struct buf out = BUF_INIT;
        int r = html_put_page(&out, data, data_len);

        free(data);
        if (r < 0)
                return roast_fail_nomem(error);
        *len = out.len;
        *html = buf_release_string(&out);
        return *html ? 0 : roast_fail_nomem(error);
}

int roast_report_html(char **html, size_t *len, struct roast_run *run, struct roast_error *error)
{
        size_t data_len;
        void *data;
        int r = roast_report_data(&data, &data_len, run, error);

        return r < 0 ? r : html_finish_page(html, len, data, data_len, error);
}

int roast_report_comparison(char **html, size_t *len, const struct roast_comparison *comparison,
                            struct roast_error *error)
{
        size_t data_len;
        void *data;
        int r = report_comparison_data(&data, &data_len, comparison, error);

        return r < 0 ? r : html_finish_page(html, len, data, data_len, error);
}

/* Only a plain file is replaced: not what stands for a device or a directory, and no run. */
static int html_check_target(const char *path, const char *source, struct roast_error *error)
{
        struct stat status;

        if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
                return roast_fail(error, ROAST_E_INVALID, "%s: is not a plain file", path);
        return roast_export_check_target(path, source, error);
}

static int html_write_all(int fd, const char *data, size_t len)
{
        while (len) {
                ssize_t n = write(fd, data, len);

                if (n < 0 && errno != EINTR)
                        return -1;
                if (n > 0) {
                        data += n;
                        len -= (size_t)n;
                }
        }
        return 0;
}

static int html_write_page(const char *path, const char *html, size_t len,
                           struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *target = NULL;
        ROAST_CLEANUP(cleanup_free) char *beside = NULL;
        ROAST_CLEANUP(hold_end) sigset_t before = hold_begin();
        ROAST_CLEANUP(cleanup_close) int fd = -1;
        int r = roast_export_resolve(&target, path, error);

        if (r < 0)
                return r;
        if (asprintf(&beside, "%s.%ld", target, (long)getpid()) < 0) {
                beside = NULL;
                return roast_fail_nomem(error);
        }
        fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0)
                return roast_fail(error, ROAST_E_IO, "%s: cannot be created: %s", path,
                                  strerror(errno));
        if (html_write_all(fd, html, len) < 0 || rename(beside, target) < 0) {
                r = roast_fail(error, ROAST_E_IO, "%s: cannot be written: %s", path,
                               strerror(errno));
                unlink(beside);
        }
        return r;
}

int roast_report_write(struct roast_run *run, const char *path, struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *html = NULL;
        size_t len = 0;
        int r;

        r = html_check_target(path, roast_run_path(run), error);
        if (r >= 0)
                r = roast_report_html(&html, &len, run, error);
        return r < 0 ? r : html_write_page(path, html, len, error);
}

int roast_report_write_comparison(const struct roast_comparison *comparison, const char *path,
                                  struct roast_error *error)
{
        ROAST_CLEANUP(cleanup_free) char *html = NULL;
        size_t len = 0;
        int r = 0;

        for (size_t i = 0; i < comparison->n_runs && r >= 0; i++)
                r = html_check_target(path, comparison->runs[i].path, error);
        if (r >= 0)
                r = roast_report_comparison(&html, &len, comparison, error);
        return r < 0 ? r : html_write_page(path, html, len, error);
}

/* Bytes, branches and failures of a summary, as dicts */

#include "record/chunk.h"
#include "run.h"

/* A number, or None where no chunk tells it */
static PyObject *summary_known(int64_t value, bool told)
{
        return told ? PyLong_FromLongLong(value) : Py_NewRef(Py_None);
}

static PyObject *summary_sum(const struct roast_byte_sum *sum)
{
        return summary_known(sum->bytes, sum->chunks > 0);
}

static PyObject *summary_ratio(double part, double whole, bool told)
{
        return told && whole > 0 ? PyFloat_FromDouble(part / whole) : Py_NewRef(Py_None);
}

PyObject *native_bytes_dict(const struct roast_bytes *bytes)
{
        bool needed = bytes->needed.chunks > 0, trees = bytes->trees > 0;

        return Py_BuildValue(
                "{s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "bytes_needed",
                summary_sum(&bytes->needed), "bytes_requested", summary_sum(&bytes->requested),
                "bytes_kernel_read", summary_sum(&bytes->kernel), "bytes_storage_read",
                summary_sum(&bytes->storage), "bytes_needed_again",
                summary_known(bytes->again, needed), "chunks_cutting_baskets",
                summary_known(bytes->cut_chunks, needed), "tree_branches",
                summary_known(bytes->tree_branches, trees), "tree_bytes",
                summary_known(bytes->tree_bytes, trees), "touched_branches",
                summary_known(bytes->touched_branches, trees), "touched_bytes",
                summary_known(bytes->touched_bytes, trees), "touched_bytes_percent",
                summary_ratio((double)bytes->touched_bytes * 100, (double)bytes->tree_bytes, trees),
                "touched_branches_percent",
                summary_ratio((double)bytes->touched_branches * 100, (double)bytes->tree_branches,
                              trees),
                "request_amplification",
                summary_ratio((double)bytes->requested.bytes, (double)bytes->needed.bytes,
                              bytes->requested.chunks > 0),
                "kernel_amplification",
                summary_ratio((double)bytes->kernel.bytes, (double)bytes->requested.bytes,
                              bytes->kernel.chunks > 0),
                "border_amplification",
                summary_ratio((double)bytes->needed.bytes,
                              (double)(bytes->needed.bytes - bytes->again), needed));
}

PyObject *native_branch_dict(const struct roast_summary *summary, size_t i)
{
        const struct roast_branch *branch = &summary->branches[i];

        return Py_BuildValue("{s:N,s:L,s:N}", "branch", native_text(branch->name), "chunks",
                             (long long)branch->chunks, "bytes_needed",
                             summary_sum(&branch->needed));
}

PyObject *native_failure_dict(const struct roast_summary *summary, size_t i)
{
        const struct roast_failure *failure = &summary->failures[i];
        int outcome = failure->outcome;

        return Py_BuildValue("{s:s,s:N,s:N,s:N,s:L,s:L,s:d}", "outcome",
                             outcome >= 0 && outcome < CHUNK_N_OUTCOMES ? chunk_outcomes[outcome]
                                                                        : "unknown",
                             "error_type", native_text(failure->error_type), "error_message",
                             native_text(failure->error_message), "file",
                             native_text(failure->file), "attempts", (long long)failure->attempts,
                             "recovered", (long long)failure->recovered, "wall_s", failure->wall_s);
}

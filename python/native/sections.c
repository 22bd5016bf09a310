/* The sections of one chunk: see sections.h. */

#include <stdlib.h>
#include <string.h>

#include "probe/readings.h"
#include "sections.h"

void sections_init(struct section_set *set, const void *thread)
{
        *set = (struct section_set){ .stack = { .thread = thread } };
}

void sections_deinit(struct section_set *set)
{
        struct section_stack *stack = set->stack.next, *next;

        for (size_t i = 0; i < set->n; i++)
                Py_DECREF(set->entries[i].name);
        free(set->entries);
        for (int i = 0; i < N_KINDS; i++)
                Py_CLEAR(set->index[i]);
        for (; stack; stack = next) {
                next = stack->next;
                free(stack);
        }
        *set = (struct section_set){ 0 };
}

static void sections_close_stack(struct section_stack *stack, int64_t now_ns)
{
        while (stack->top)
                activation_close(stack->top, now_ns);
}

void sections_close(struct section_set *set, int64_t now_ns)
{
        sections_close_stack(&set->stack, now_ns);
        for (struct section_stack *stack = set->stack.next; stack; stack = stack->next)
                sections_close_stack(stack, now_ns);
        sections_close_stack(&set->loose, now_ns);
}

static int sections_grow(struct section_set *set)
{
        size_t cap = set->cap ? 2 * set->cap : 16;
        struct section_entry *entries;

        if (set->n < set->cap)
                return 0;
        entries = cap < UINT32_MAX ? realloc(set->entries, cap * sizeof(*entries)) : NULL;
        if (!entries) {
                PyErr_NoMemory();
                return -1;
        }
        set->entries = entries;
        set->cap = cap;
        return 0;
}

static int64_t sections_find_indexed(struct section_set *set, PyObject *name,
                                     enum section_kind kind)
{
        PyObject *number;
        int r;

        if (!set->index[kind] && !(set->index[kind] = PyDict_New()))
                return -1;
        number = PyDict_GetItemWithError(set->index[kind], name);
        if (number)
                return PyLong_AsLongLong(number);
        if (PyErr_Occurred() || sections_grow(set) < 0)
                return -1;
        number = PyLong_FromSize_t(set->n);
        r = number ? PyDict_SetItem(set->index[kind], name, number) : -1;
        Py_XDECREF(number);
        if (r < 0)
                return -1;
        set->entries[set->n] = (struct section_entry){
                .name = Py_NewRef(name),
                .kind = kind,
                .rss_start_bytes = CHUNK_ABSENT,
                .rss_end_bytes = CHUNK_ABSENT,
        };
        return (int64_t)set->n++;
}

int64_t sections_find(struct section_set *set, PyObject *name, enum section_kind kind)
{
        size_t slot = ((uintptr_t)name >> 4 ^ (uintptr_t)name >> 9) %
                      (sizeof(set->recent) / sizeof(set->recent[0]));
        int64_t number;

        if (kind == KIND_TIME && set->recent[slot].name == name)
                return set->recent[slot].number;
        number = sections_find_indexed(set, name, kind);
        /* only a name that an entry keeps alive may be known by its address */
        if (number >= 0 && kind == KIND_TIME && set->entries[number].name == name) {
                set->recent[slot].name = name;
                set->recent[slot].number = (uint32_t)number;
        }
        return number;
}

struct section_stack *sections_stack(struct section_set *set, const void *thread)
{
        struct section_stack *stack;

        if (set->stack.thread == thread)
                return &set->stack;
        for (stack = set->stack.next; stack; stack = stack->next)
                if (stack->thread == thread)
                        return stack;
        stack = calloc(1, sizeof(*stack));
        if (!stack)
                return NULL;
        stack->thread = thread;
        stack->next = set->stack.next;
        set->stack.next = stack;
        return stack;
}

/* The innermost section of a thread has had the time since it became that, if it is known. */
static void sections_credit(struct section_set *set, struct section_stack *stack, int64_t now_ns)
{
        int64_t ns = probe_difference(stack->last_ns, now_ns);

        if (stack->top && ns > 0)
                set->entries[stack->top->number].self_ns += ns;
        stack->last_ns = now_ns;
}

void activation_open(struct activation *activation, struct section_set *set,
                     struct section_stack *stack, int64_t now_ns)
{
        sections_credit(set, stack, now_ns);
        activation->set = set;
        activation->stack = stack;
        activation->start_ns = now_ns;
        activation->newer = NULL;
        activation->older = stack->top;
        if (stack->top)
                stack->top->newer = activation;
        stack->top = activation;
}

struct section_entry *activation_close(struct activation *activation, int64_t now_ns)
{
        struct section_set *set = activation->set;
        struct section_stack *stack = activation->stack;
        /* open, so it has its set: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        struct section_entry *entry = &set->entries[activation->number];
        int64_t elapsed_ns = probe_difference(activation->start_ns, now_ns);

        sections_credit(set, stack, now_ns);
        if (activation->newer)
                activation->newer->older = activation->older;
        else
                stack->top = activation->older;
        if (activation->older)
                activation->older->newer = activation->newer;
        activation->set = NULL;

        if (elapsed_ns < 0) /* nobody knows how long it took: it does not count */
                return entry;
        if (!entry->count || elapsed_ns < entry->min_ns)
                entry->min_ns = elapsed_ns;
        if (elapsed_ns > entry->max_ns)
                entry->max_ns = elapsed_ns;
        entry->total_ns += elapsed_ns;
        entry->count++;
        return entry;
}

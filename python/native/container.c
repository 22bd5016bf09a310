/*
 * A dict that was put on a processor by hand
 *
 * This is looked for whenever a section is entered outside of a chunk, so it has
 * to be cheap to find nothing. An instance with a __dict__ is asked for that; what
 * its class has under the name is remembered by class, as an ordinary class has
 * nothing, and an AttributeError costs more than all the rest of a section.
 */

#include "container.h"

enum answer {
        ANSWER_NOTHING, /* look into the instance's dict only */
        ANSWER_ASK,     /* the class may know more */
        ANSWER_OURS,    /* our descriptor, which tells when a container is put into an instance */
};

static bool put_by_hand;
PyTypeObject *container_without;

static struct {
        PyTypeObject *type; /* a strong reference, so that the address stays its own */
        enum answer answer;
} known[16];

static enum answer container_class_answer(PyTypeObject *type, PyObject *name)
{
        PyObject *value = PyObject_GetAttr((PyObject *)type, name);
        bool ours;

        if (!value) {
                PyErr_Clear();
                return PyObject_HasAttrString((PyObject *)type, "__getattr__") ? ANSWER_ASK
                                                                               : ANSWER_NOTHING;
        }
        ours = PyObject_HasAttrString(value, "_roastcoffea_descriptor");
        Py_DECREF(value);
        return ours ? ANSWER_OURS : ANSWER_ASK;
}

static enum answer container_ask_class(PyTypeObject *type, PyObject *name)
{
        size_t slot =
                ((uintptr_t)type >> 4 ^ (uintptr_t)type >> 10) % (sizeof(known) / sizeof(known[0]));
        enum answer answer;
        PyTypeObject *before;

        if (known[slot].type == type)
                return known[slot].answer;
        answer = container_class_answer(type, name);
        before = known[slot].type;
        if (before == container_without)
                container_without = NULL;
        known[slot].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
        known[slot].answer = answer;
        Py_XDECREF((PyObject *)before);
        return answer;
}

PyObject *container_find(struct probe_state *state, PyObject *owner)
{
        enum answer answer = container_ask_class(Py_TYPE(owner), state->attribute);
        PyObject *dict, *found = NULL;

        if (answer == ANSWER_OURS && !put_by_hand) {
                container_without = Py_TYPE(owner); /* alive as long as it is in known[] */
                return NULL;
        }
        dict = PyObject_GenericGetDict(owner, NULL);
        if (dict) {
                found = Py_XNewRef(PyDict_GetItemWithError(dict, state->attribute));
                Py_DECREF(dict);
        }
        if (PyErr_Occurred())
                PyErr_Clear();
        if (!found && (!dict || answer == ANSWER_ASK)) {
                found = PyObject_GetAttr(owner, state->attribute);
                if (!found)
                        PyErr_Clear();
        }
        if (found && !PyMapping_Check(found))
                Py_CLEAR(found);
        return found;
}

PyObject *container_put(PyObject *module, PyObject *unused)
{
        (void)module;
        (void)unused;
        put_by_hand = true;
        container_without = NULL;
        Py_RETURN_NONE;
}

/* The inner dict, made if it is missing; a new reference */
static PyObject *container_inner(PyObject *container, PyObject *key)
{
        PyObject *dict = PyObject_GetItem(container, key);

        if (dict || !PyErr_ExceptionMatches(PyExc_KeyError))
                return dict;
        PyErr_Clear();
        dict = PyDict_New();
        if (dict && PyObject_SetItem(container, key, dict) < 0)
                Py_CLEAR(dict);
        return dict;
}

int container_add(PyObject *container, PyObject *key, PyObject *name, PyObject *value)
{
        PyObject *dict = container_inner(container, key), *before, *sum;
        int r = -1;

        if (!dict)
                return -1;
        before = PyObject_GetItem(dict, name);
        if (!before && PyErr_ExceptionMatches(PyExc_KeyError)) {
                PyErr_Clear();
                r = PyObject_SetItem(dict, name, value);
        } else if (before) {
                sum = PyNumber_Add(before, value);
                r = sum ? PyObject_SetItem(dict, name, sum) : -1;
                Py_XDECREF(sum);
                Py_DECREF(before);
        }
        Py_DECREF(dict);
        return r;
}

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
};

static struct {
        PyTypeObject *type; /* a strong reference, so that the address stays its own */
        enum answer answer;
} known[16];

/* An attribute of the class that is neither there nor our own descriptor */
static bool class_has(PyTypeObject *type, PyObject *name)
{
        PyObject *value = PyObject_GetAttr((PyObject *)type, name);
        bool ours;

        if (!value) {
                PyErr_Clear();
                return false;
        }
        ours = PyObject_HasAttrString(value, "_roastcoffea_descriptor");
        Py_DECREF(value);
        return !ours;
}

static enum answer ask_class(PyTypeObject *type, PyObject *name)
{
        size_t slot =
                ((uintptr_t)type >> 4 ^ (uintptr_t)type >> 10) % (sizeof(known) / sizeof(known[0]));
        enum answer answer;
        PyTypeObject *before;

        if (known[slot].type == type)
                return known[slot].answer;
        answer = class_has(type, name) || PyObject_HasAttrString((PyObject *)type, "__getattr__")
                         ? ANSWER_ASK
                         : ANSWER_NOTHING;
        before = known[slot].type;
        known[slot].type = (PyTypeObject *)Py_NewRef((PyObject *)type);
        known[slot].answer = answer;
        Py_XDECREF((PyObject *)before);
        return answer;
}

PyObject *container_find(struct probe_state *state, PyObject *owner)
{
        PyTypeObject *type = Py_TYPE(owner);
        PyObject *dict, *found = NULL;

        if (owner == Py_None)
                return NULL;
        dict = PyObject_GenericGetDict(owner, NULL);
        if (dict) {
                found = Py_XNewRef(PyDict_GetItemWithError(dict, state->attribute));
                Py_DECREF(dict);
        }
        if (PyErr_Occurred())
                PyErr_Clear();
        if (!found && (!dict || ask_class(type, state->attribute) == ANSWER_ASK)) {
                found = PyObject_GetAttr(owner, state->attribute);
                if (!found)
                        PyErr_Clear();
        }
        if (found && !PyMapping_Check(found))
                Py_CLEAR(found);
        return found;
}

/* The inner dict, made if it is missing; a new reference */
static PyObject *inner(PyObject *container, PyObject *key)
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
        PyObject *dict = inner(container, key), *before, *sum;
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

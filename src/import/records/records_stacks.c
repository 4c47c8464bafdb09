/* SPDX-License-Identifier: Apache-2.0 */
#include "import/records/records_stacks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void osc_records_stacks_fini(struct osc_records_stacks *s)
{
    for (size_t i = 0; i < s->n_binaries; i++) {
        osc_free(s->binaries[i].path);
        osc_elf_fini(&s->binaries[i].elf);
    }
    osc_free(s->binaries);
    osc_free(s->modules);
    osc_free(s->frames);
    osc_idmap_fini(&s->known);
    osc_strbuf_fini(&s->texts);
    osc_strbuf_fini(&s->text);
    *s = (struct osc_records_stacks){0};
}

/* --- modules --------------------------------------------------------------- */

/* Find or add the file of M at PATH; *AT is its index. */
static osc_status find_binary(struct osc_records_stacks *s, const struct osc_wire_module *m,
                              struct osc_str path, size_t *at)
{
    for (*at = s->n_binaries; *at > 0;) {
        const struct osc_records_binary *b = &s->binaries[--*at];

        if (b->file_bytes == m->file_bytes && b->mtime_ns == m->mtime_ns &&
            osc_str_eq(osc_str_c(b->path), path))
            return OSC_OK;
    }
    const osc_status st =
        osc_build_grow(&s->binaries, &s->cap_binaries, s->n_binaries + 1, sizeof *s->binaries);
    char *copy = st == OSC_OK ? osc_malloc((size_t)path.len + 1) : NULL;

    if (!copy)
        return st == OSC_OK ? OSC_ENOMEM : st;
    memcpy(copy, path.s, path.len);
    copy[path.len] = '\0';
    *at = s->n_binaries;
    s->binaries[s->n_binaries++] = (struct osc_records_binary){
        .path = copy, .file_bytes = m->file_bytes, .mtime_ns = m->mtime_ns};
    return OSC_OK;
}

osc_status osc_records_stacks_add(struct osc_records_stacks *s, const unsigned char *data,
                                  size_t len)
{
    osc_status st = OSC_OK;

    for (size_t at = 0; at < len && st == OSC_OK;) {
        struct osc_records_module *to;
        struct osc_wire_module m;

        if (len - at < sizeof m)
            return OSC_EFORMAT;
        memcpy(&m, data + at, sizeof m);
        at += sizeof m;
        const struct osc_str path = {(const char *)data + at, m.path_bytes};
        const size_t padded = ((size_t)m.path_bytes + 7) & ~(size_t)7;
        if (padded > len - at || (path.len > 0 && memchr(path.s, '\0', path.len)))
            return OSC_EFORMAT;
        at += padded;
        st = osc_build_grow(&s->modules, &s->cap_modules, s->n_modules + 1, sizeof *s->modules);
        if (st != OSC_OK)
            break;
        to = &s->modules[s->n_modules];
        *to = (struct osc_records_module){
            .start = m.start, .end = m.end, .file_offset = m.file_offset};
        st = find_binary(s, &m, path, &to->binary);
        s->n_modules += st == OSC_OK;
    }
    return st;
}

/* --- frames ---------------------------------------------------------------- */

/* Read the functions of B, if the file has not changed since it was recorded. */
static osc_status open_binary(struct osc_records_binary *b)
{
    struct stat st;
    osc_status status = OSC_OK;

    b->is_tried = true;
    if (b->file_bytes == 0 || b->path[0] != '/')
        return OSC_OK;
    /* NONBLOCK: it may have been replaced, for example by a pipe. */
    const int fd = open(b->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return OSC_OK;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == b->file_bytes &&
        (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == b->mtime_ns)
        status = osc_elf_read(&b->elf, fd, b->file_bytes);
    (void)close(fd);
    return status == OSC_ENOMEM ? status : OSC_OK; /* other failures: no functions */
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Append the name of the function that contains ADDRESS. */
static osc_status name_frame(struct osc_records_stacks *s, uint64_t address)
{
    const struct osc_records_module *m = NULL;
    struct osc_str name;

    for (size_t i = s->n_modules; i-- > 0 && !m;)
        if (address >= s->modules[i].start && address < s->modules[i].end)
            m = &s->modules[i];
    if (!m) {
        osc_strbuf_addf(&s->texts, "0x%llx", (unsigned long long)address);
        return s->texts.status;
    }
    struct osc_records_binary *b = &s->binaries[m->binary];
    const uint64_t offset = address - m->start + m->file_offset;
    const osc_status st = b->is_tried ? OSC_OK : open_binary(b);

    if (st != OSC_OK)
        return st;
    if (osc_elf_find(&b->elf, offset, &name)) {
        osc_strbuf_addstr(&s->texts, name);
        osc_strbuf_addf(&s->texts, " [%s]", base_name(b->path));
    } else {
        osc_strbuf_addf(&s->texts, "%s+0x%llx", base_name(b->path), (unsigned long long)offset);
    }
    return s->texts.status;
}

/* Add the text of the frame at ADDRESS, which is new. */
static osc_status add_frame(struct osc_records_stacks *s, uint64_t address)
{
    const size_t start = s->texts.len;
    osc_status st =
        osc_build_grow(&s->frames, &s->cap_frames, s->n_frames + 1, sizeof *s->frames);

    if (st == OSC_OK)
        st = name_frame(s, address - 1);
    if (st != OSC_OK)
        return st;
    for (size_t i = start; i < s->texts.len; i++)
        if (s->texts.s[i] == ';') /* ';' separates frames */
            s->texts.s[i] = ',';
    s->frames[s->n_frames++] = (struct osc_records_frame){start, s->texts.len - start};
    return OSC_OK;
}

osc_sid osc_records_stacks_text(struct osc_records_stacks *s, struct osc_builder *b,
                                const struct osc_packed *p)
{
    osc_strbuf_clear(&s->text);
    for (uint64_t i = 0; i < p->value && b->status == OSC_OK; i++) {
        uint32_t *place = osc_idmap_put(&s->known, p->frames[i]);

        if (!place)
            b->status = OSC_ENOMEM;
        else if (*place == 0 && (b->status = add_frame(s, p->frames[i])) == OSC_OK)
            *place = (uint32_t)s->n_frames;
        if (b->status != OSC_OK)
            break;
        const struct osc_records_frame *f = &s->frames[*place - 1];
        if (i > 0)
            osc_strbuf_addc(&s->text, ';');
        osc_strbuf_add(&s->text, s->texts.s + f->start, f->len);
    }
    if (p->id == OSC_STACK_CUT)
        osc_strbuf_adds(&s->text, ";...");
    if (b->status == OSC_OK)
        b->status = s->text.status;
    return b->status == OSC_OK ? osc_build_string(b, s->text.s, (uint32_t)s->text.len)
                               : (osc_sid){0};
}

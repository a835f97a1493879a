/* What a C++ compiler writes for classes, by the Itanium C++ ABI: type information, and tables of
   virtual functions that a pointer to the type information and the offset of the part precede. */

typedef int Function(int);
typedef struct { const void *form; const char *name; } Root;
typedef struct { const void *form; const char *name; const void *base; } Derived;
typedef struct {
    const void *form;
    const char *name;
    unsigned flags, count;
    struct { const void *base; long at; } bases[2];
} Joined;
typedef struct { long to_top; const void *class; Function *functions[3]; } Table;

extern const Table form_of_root __asm__("_ZTVN10__cxxabiv117__class_type_infoE");
extern const Table form_of_derived __asm__("_ZTVN10__cxxabiv120__si_class_type_infoE");
extern const Table form_of_joined __asm__("_ZTVN10__cxxabiv121__vmi_class_type_infoE");
#ifdef OWN_FORMS
/* As where the library of the language is linked into the program. */
int __cxa_pure_virtual(int value) { return value + 100; }
#else
extern int __cxa_pure_virtual(int);
#endif

#define FORM(of) &(of).functions
#define FUNCTION(name, with) static int name(int value) { return value * with + (value ^ with); }
FUNCTION(area, 5)
FUNCTION(draw_circle, 7)
FUNCTION(draw_square, 11)
FUNCTION(only_inherited, 13)
FUNCTION(draw_grid, 17)
FUNCTION(folded, 19)
FUNCTION(of_other_part, 23)
FUNCTION(of_local, 29)
FUNCTION(of_loop, 31)
FUNCTION(no_method, 37)
__attribute__((visibility("default"))) int exported(int value) { return value * 41 + (value ^ 41); }

#ifdef OWN_FORMS
FUNCTION(of_form, 3)
static const Derived root_form = {FORM(form_of_derived), "N10__cxxabiv117__class_type_infoE", 0};
static const Derived one_form = {FORM(form_of_derived), "N10__cxxabiv120__si_class_type_infoE", 0};
static const Derived many_form = {FORM(form_of_derived), "N10__cxxabiv121__vmi_class_type_infoE", 0};
const Table form_of_root = {0, &root_form, {of_form, of_form, of_form}};
const Table form_of_derived = {0, &one_form, {of_form, of_form, of_form}};
const Table form_of_joined = {0, &many_form, {of_form, of_form, of_form}};
#endif

const Root shape __asm__("_ZTI5Shape") = {FORM(form_of_root), "5Shape"};
const Derived circle __asm__("_ZTI6Circle") = {FORM(form_of_derived), "6Circle", &shape};
const Derived square __asm__("_ZTI6Square") = {FORM(form_of_derived), "6Square", &shape};
const Root grid __asm__("_ZTIN5plane4GridIiEE") = {FORM(form_of_root), "N5plane4GridIiEE"};
const Joined both __asm__("_ZTI4Both") = {
    FORM(form_of_joined), "4Both", 0, 2, {{&circle, 2}, {&grid, 16 << 8 | 2}}};
static const Root local = {FORM(form_of_root), "*N12_GLOBAL__N_15LocalE"};
static const Derived loop = {FORM(form_of_derived), "4Loop", &loop};

const Table tables[] = {
    {0, &shape, {area, __cxa_pure_virtual, __cxa_pure_virtual}},
    {0, &circle, {area, draw_circle, only_inherited}},
    {0, &square, {exported, draw_square, only_inherited}},
    {0, &grid, {folded, draw_grid, __cxa_pure_virtual}},
    {0, &both, {area, draw_circle, only_inherited}},
    {-16, &both, {of_other_part, draw_grid, of_other_part}},
    {0, &local, {of_local, folded, of_local}},
    {0, &loop, {of_loop, of_loop, of_loop}},
};
/* No table of a class: what precedes it is a number, and no pointer to type information. */
const struct { long first, second; Function *functions[2]; } handlers = {0, 0, {no_method, area}};

int start(int value) {
    return tables[value & 7].functions[0](value) + handlers.functions[value & 1](value);
}

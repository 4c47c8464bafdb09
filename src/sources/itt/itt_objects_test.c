/* SPDX-License-Identifier: Apache-2.0 */
#include "sources/itt/itt_objects.h"

#include "support/record_double.h"
#include "support/unit.h"

TEST(gives_a_text_one_handle)
{
    struct osc_text *const text = osc_text_find_c("aten::relu");
    struct osc_itt_string *const handle = osc_itt_string_of(text);
    struct osc_itt_string early = {.text = "aten::relu"};

    assert_string_equal(handle->text, "aten::relu");
    assert_ptr_equal(osc_itt_string_of(text), handle);
    assert_ptr_equal(osc_itt_text_of(handle), text);
    assert_ptr_equal(osc_itt_text_of(&early), text);
    assert_ptr_equal(osc_itt_text_of(NULL), osc_text_find_c(""));
}

TEST(makes_a_domain_once_and_knows_that_of_pytorch)
{
    struct osc_itt_domain early = {.name = "PyTorch"}, other = {.name = "tbb"};

    struct osc_itt_domain_entry *const d = osc_itt_domain(osc_text_find_c("PyTorch"));
    assert_true(d->is_pytorch);
    assert_ptr_equal(osc_itt_domain_of(&d->abi), d);
    assert_ptr_equal(osc_itt_domain_of(&early), d);
    assert_false(osc_itt_domain_of(&other)->is_pytorch);
    assert_int_not_equal(osc_itt_domain_of(&other)->number, d->number);
    assert_null(osc_itt_domain_of(NULL));
}

UNIT_MAIN("itt_objects")

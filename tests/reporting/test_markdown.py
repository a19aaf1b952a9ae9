"""Markdown of tables and texts."""

from despur.reporting.markdown import escape_star, replace_between, to_markdown


def test_a_table_has_a_line_for_each_row():
    assert to_markdown(["a", "b"], [["x", 1], ["y", 2]]) == "| a | b |\n| --- | --- |\n| x | 1 |\n| y | 2 |"


def test_the_star_of_a_name_is_no_mark():
    assert escape_star("on CMNIST*, * is kept") == r"on CMNIST\*, * is kept"


def test_a_text_between_marks_replaces_the_one_before():
    text = "before\n<!-- a -->\nold\n<!-- z -->\nafter <!-- z -->\n"
    new = replace_between(text, "<!-- a -->\n", "<!-- z -->", "new\n")
    assert new == "before\n<!-- a -->\nnew\n<!-- z -->\nafter <!-- z -->\n"
    assert replace_between("no marks\n", "<!-- a -->", "<!-- z -->", "new") == "no marks\n"

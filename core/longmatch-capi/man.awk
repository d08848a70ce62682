# Makes a manual page of each function of a header: its comment, and its declaration after it.

function page(name, file, i, text) {
    file = out "/" name ".3"
    print ".TH " name " 3 \"\" \"longmatch " version "\" \"longmatch\"" >file
    print ".SH NAME" >file
    text = comment[1]
    sub(/[.,:] .*/, "", text)
    gsub(/`/, "", text)
    sub(/[.:]$/, "", text)
    print name " \\- " tolower(substr(text, 1, 1)) substr(text, 2) >file
    print ".SH SYNOPSIS\n.nf\n#include <" header ">\n" >file
    for (i = 1; i <= lines; i++) print declaration[i] >file
    print ".fi\n.SH DESCRIPTION" >file
    for (i = 1; i <= comments; i++) print (comment[i] == "" ? ".PP" : escaped(comment[i])) >file
    print ".SH SEE ALSO\nThe head of " header " has the rules for all calls." >file
    close(file)
}

function escaped(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/`/, "", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

/^\/\/ ?/ {
    if (!commented) comments = 0
    commented = 1
    sub(/^\/\/ ?/, "")
    comment[++comments] = $0
    next
}

# A declaration begins in the first column, and its name is followed by a parenthesis.
/^[a-z].*[ *]lm_[a-z0-9_]+\(/ && !/^typedef/ {
    name = $0
    sub(/\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    lines = 0
    inside = 1
}

inside {
    declaration[++lines] = $0
    if (/;$/) {
        inside = 0
        page(name)
    }
}

{ commented = 0 }

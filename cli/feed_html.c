/* SPDX-License-Identifier: MIT */
/* The report of lade feed as a page of HTML that needs nothing from elsewhere: report.html with the JSON inside. */
#include "feed.h"

#include <string.h>

extern const char report_template[]; /* report.html; made when the program is built */

void report_html(FILE *to, const struct feed *f, const struct figures *g)
{
    static const char mark[] = "@REPORT@";
    const char *at = strstr(report_template, mark);

    fwrite(report_template, 1, (size_t)(at - report_template), to);
    report_json(to, f, g);
    fputs(at + sizeof mark - 1, to);
}

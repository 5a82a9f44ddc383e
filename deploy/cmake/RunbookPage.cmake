# Run by the build: writes OUTPUT, the page /runbook, from INPUT, a Markdown file with one title (#), sections (##),
# paragraphs, **strong** words and `code`. A section's id is its title in lower case with - for blanks: alerts link to it.
file(READ ${INPUT} text)
string(REPLACE "&" "&amp;" text "${text}")
string(REPLACE "<" "&lt;" text "${text}")
string(REPLACE ">" "&gt;" text "${text}")
string(REGEX REPLACE "\\*\\*([^*]+)\\*\\*" "<strong>\\1</strong>" text "${text}")
string(REGEX REPLACE "`([^`]+)`" "<code>\\1</code>" text "${text}")
string(REGEX REPLACE "^# ([^\n]+)\n" "<h1>\\1</h1>\n" text "${text}")
string(REGEX MATCHALL "\n## [^\n]+\n" titles "${text}")
foreach(title IN LISTS titles)
  string(REGEX REPLACE "\n## ([^\n]+)\n" "\\1" words "${title}")
  string(TOLOWER "${words}" id)
  string(REPLACE " " "-" id "${id}")
  string(REPLACE "${title}" "\n<h2 id=\"${id}\">${words}</h2>\n" text "${text}")
endforeach()
# A paragraph stands between blank lines. A title is none.
string(STRIP "${text}" text)
string(REGEX REPLACE "\n\n+([^<\n]|<[^h])" "\n\n<p>\\1" text "${text}")
string(REGEX REPLACE "<p>([^\n]+(\n[^\n]+)*)" "<p>\\1</p>" text "${text}")
file(WRITE ${OUTPUT} "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>Runbook - rightsize-exporter</title>
<link rel=\"icon\" href=\"web/icon.svg\">
<link rel=\"stylesheet\" href=\"web/app.css\">
</head>
<body>
<header class=\"bar\"><a class=\"home\" href=\"./#/\">rightsize-exporter</a></header>
<main class=\"text\">
${text}
</main>
</body>
</html>
")

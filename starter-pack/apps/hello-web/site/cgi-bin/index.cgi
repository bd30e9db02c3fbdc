#!/bin/sh
# The page at /: busybox httpd runs this where a folder has no index.html. What somebody chose is text, not markup.
greeting=$(printf '%s' "${GREETING:-Hello from GPUaaS}" | /bin/busybox sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g')
case "${THEME:-light}" in
  dark) colours='background: #111; color: #eee' ;;
  *) colours='background: #fff; color: #111' ;;
esac
printf 'Content-Type: text/html; charset=utf-8\r\n\r\n'
printf '<!doctype html>\n<html lang="en">\n<title>%s</title>\n<body style="%s; font-family: sans-serif">\n<h1>%s</h1>\n</body>\n</html>\n' \
  "$greeting" "$colours" "$greeting"

# $header is the header X-Service-Signature as it came, body.json the body as it came, $secret the endpoint's secret.
at=$(printf %s "$header" | sed 's/^t=\([0-9]*\),.*/\1/')
signed=$({ printf %s. "$at"; cat body.json; } | openssl dgst -sha256 -hmac "$secret" | sed 's/.*= //')
age=$(($(date +%s) - at))
case ",$header," in
  *",v1=$signed,"*) [ "${age#-}" -le 300 ] && echo "verified" ;;
  *) echo "not signed with this secret"; exit 1 ;;
esac

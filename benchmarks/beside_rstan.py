#!/usr/bin/env python3
"""beside_rstan.py - log densities and gradients of all programs of a folder
beside rstan's, at the same unconstrained points.

  beside_rstan.py TEMPERA FOLDER [-o FILE] [--only TEXT,...] [--batch N]

Wants R with rstan 2.21 and jsonlite's friends installed, and the libtempera.so
beside TEMPERA. Ours come through BridgeStan's interface (`tempera compile`), so
that both have Stan's own coordinates; theirs from rstan's translation, compiled
many programs at a time without optimising (four seconds a program). Programs
are rewritten in the array syntax that rstan 2.21 knows. Data and marks are found
as by every_program.py. ODE programs that differ are compared once more with
tolerances of 1e-12. FILE has a row (JSON) for each program.
"""
import argparse
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import every_program as every  # noqa: E402

POINTS = 5
SITE = "/usr/lib/R/site-library/"
FLAGS = ["-std=c++14", "-O0", "-w", "-fPIC", "-shared", "-DUSING_R",
         "-DBOOST_DISABLE_ASSERTS", "-DBOOST_NO_AUTO_PTR", "-D_REENTRANT",
         "-I/usr/share/R/include", "-I/usr/include/eigen3"] + [
             "-I" + SITE + p + "/include" for p in
             ("Rcpp", "rstan", "StanHeaders", "RcppEigen", "BH",
              "RcppParallel")] + ["-I" + SITE + "StanHeaders/include/src"]
LIBRARIES = ["-L/usr/lib/R/lib", "-lR",
             SITE + "StanHeaders/lib/libStanHeaders.a", "-ltbb"]

HEAD = """#include <Rcpp.h>
#include <stan/model/model_header.hpp>
#include <stan/model/log_prob_grad.hpp>
#include <rstan/io/rlist_ref_var_context.hpp>
"""
TAIL = """
template <class M> Rcpp::List run(Rcpp::List data, Rcpp::NumericMatrix th) {
  rstan::io::rlist_ref_var_context context(data);
  std::stringstream said;
  M m(context, 1u, &said);
  int k = m.num_params_r();
  Rcpp::NumericVector v(th.nrow());
  Rcpp::NumericMatrix g(th.nrow(), k);
  if (th.ncol() != k) Rcpp::stop("%d coordinates, not %d", k, th.ncol());
  for (int i = 0; i < th.nrow(); i++) {
    std::vector<double> p(k), slopes;
    std::vector<int> none;
    for (int j = 0; j < k; j++) p[j] = th(i, j);
    try {
      v[i] = stan::model::log_prob_grad<false, true>(m, p, none, slopes, &said);
      for (int j = 0; j < k; j++) g(i, j) = slopes[j];
    } catch (const std::exception &) { v[i] = NA_REAL; }
  }
  return Rcpp::List::create(v, g);
}
extern "C" SEXP run_model(SEXP name, SEXP data, SEXP th) {
BEGIN_RCPP
  std::string n = Rcpp::as<std::string>(name);
%s
  Rcpp::stop("none");
END_RCPP
}
"""
STANC = """
suppressMessages(library(rstan))
for (n in commandArgs(TRUE)) tryCatch(
  writeLines(stanc(file = paste0(n, ".old"), model_name = n,
                   obfuscate_model_name = FALSE)$cppcode, paste0(n, ".cpp")),
  error = function(e) writeLines(conditionMessage(e), paste0(n, ".why")))
"""
COMPARE = """
a <- commandArgs(TRUE)
for (p in c("Rcpp", "RcppParallel", "rstan"))
  suppressMessages(library(p, character.only = TRUE))
call <- getNativeSymbolInfo("run_model", dyn.load(a[1]))
for (n in a[-1]) tryCatch({
  data <- eval(parse(paste0(n, ".R")))
  points <- as.matrix(read.table(paste0(n, ".points")))
  r <- .Call(call, n, data, points)
  write.table(format(cbind(r[[1]], r[[2]]), digits = 17), quote = FALSE,
              paste0(n, ".theirs"), row.names = FALSE, col.names = FALSE)
}, error = function(e) writeLines(conditionMessage(e), paste0(n, ".why")))
"""


# ---- programs and data as rstan 2.21 wants them --------------------------------

def included(text, folder):
    def file(found):
        with open(os.path.join(folder, found.group(1))) as opened:
            return included(opened.read(), folder)
    return re.sub(r'#include\s+["<]?([^\s">]+)[">]?', file, text)


def old_syntax(text):
    """array[N] T<bounds>[K] x as T<bounds>[K] x[N]; of arguments T[] x."""
    text, done = every.without_comments(text), ""
    while True:
        found = re.search(r"\barray\s*\[", text)
        if not found:
            return done + text
        done += text[:found.start()]
        end = every.closing(text, found.end() - 1)
        sizes, rest = text[found.end() - 1:end + 1], text[end + 1:]
        k = re.match(r"\s*\w+\s*", rest).end()
        if rest[k] == "<":
            depth = 0
            while rest[k] != ">" or depth:
                depth += (rest[k] in "([{") - (rest[k] in ")]}")
                k += 1
            k += 1
        k += re.match(r"\s*", rest[k:]).end()
        if rest[k] == "[":
            k = every.closing(rest, k) + 1
        kind, rest = rest[:k].strip(), rest[k:]
        name = re.match(r"\s*(\w+)", rest)
        if not sizes.strip("[], \t\n"):
            done += kind + sizes + " " + name.group(1)
        else:
            done += kind + " " + name.group(1) + sizes
        text = rest[name.end():]


def r_list(data):
    def sizes(v):
        return [len(v)] + (sizes(v[0]) if v else []) \
            if isinstance(v, list) else []

    def number(x, whole):
        if isinstance(x, str):
            return x.replace("Infinity", "Inf")
        if not math.isfinite(x):
            return {"inf": "Inf", "-inf": "-Inf"}.get(str(x), "NaN")
        return "%dL" % x if whole else "%.17g" % x

    def value(v):
        d, items = sizes(v), list(every.flat([v]))
        whole = all(isinstance(x, int) for x in items)
        if not d:
            return number(v, whole)
        strides = [math.prod(d[i + 1:]) for i in range(len(d))]
        order = [0] if items else []
        for n, stride in reversed(list(zip(d, strides))):
            order = [o + i * stride for o in order for i in range(n)]
        # the first index fastest
        order = sorted(range(len(items)),
                       key=lambda at: [at // s % n for n, s in
                                       reversed(list(zip(d, strides)))])
        inside = "c(%s)" % ",\n".join(number(items[o], whole) for o in order)
        return "structure(%s, .Dim = c(%s))" % (
            inside if items else "integer(0)", ", ".join("%dL" % n for n in d))
    return "list(%s)\n" % ",\n".join("`%s` = %s" % (k, value(v))
                                     for k, v in data.items())


# ---- ours ----------------------------------------------------------------------

def evaluate(library, data, out):
    """In a process of its own: points, values and gradients into a file."""
    lib, text = ctypes.CDLL(library), ctypes.c_char_p
    message = text()
    lib.bs_model_construct.restype = ctypes.c_void_p
    model = lib.bs_model_construct(data.encode(), ctypes.c_uint(1),
                                   ctypes.byref(message))
    if not model:
        sys.exit(message.value.decode()[:300])
    model = ctypes.c_void_p(model)
    k = lib.bs_param_unc_num(model)
    rows, stream = [], random.Random(7)
    for i in range(40):
        width = (1, 1, 1, .3, .3, .1)[i % 6]
        x = [stream.uniform(-width, width) for _ in range(k)]
        g, v = (ctypes.c_double * k)(), ctypes.c_double()
        bad = lib.bs_log_density_gradient(
            model, ctypes.c_bool(False), ctypes.c_bool(True),
            (ctypes.c_double * k)(*x), ctypes.byref(v), g,
            ctypes.byref(message))
        if not bad and math.isfinite(v.value) and len(rows) < POINTS:
            rows.append((x, v.value, list(g)))
    if not rows or k == 0:
        sys.exit("no parameters" if k == 0 else "no density at these points")
    with open(out, "w") as file:
        json.dump(rows, file)


def numbers(row):
    return " ".join("%.17g" % x for x in row) + "\n"


class Beside:
    """One program in the scratch folder, under a name that C++ takes."""

    def __init__(self, tempera, path, listed, scratch, name, number):
        self.program = every.Program(tempera, path, listed, scratch)
        self.name = "p%d_%s" % (number, re.sub(r"\W", "_", name)[-60:])
        self.at = os.path.join(scratch, self.name)
        self.row = {"program": name}

    def write(self, end, text):
        with open(self.at + end, "w") as file:
            file.write(text)

    def ours(self):
        """Points, and data at which there is a density."""
        p = self.program
        if not p.accept(self.row):
            return False
        done = every.run([p.tempera, "compile", p.checked, "-o",
                          self.at + ".so"] + p.include())
        why = done[2].strip()
        for source, data in p.candidates() if done[0] == 0 else ():
            self.write(".json", json.dumps(data))
            code, _, why = every.run(
                [sys.executable, __file__, "--evaluate", self.at + ".so",
                 self.at + ".json", self.at + ".ours"])
            if code == 0:
                self.row["data"] = source
                self.write(".R", r_list(data))
                with open(self.at + ".ours") as file:
                    self.points = json.load(file)
                self.write(".points", "".join(numbers(x) for x, _, _ in
                                              self.points))
                return True
        self.row["why"] = why.strip()[-200:]
        return False

    def prepare(self):
        if not self.ours():
            return False
        with open(self.program.checked, errors="replace") as file:
            text = included(file.read(), os.path.dirname(self.program.path))
        self.write(".old", old_syntax(text) + "\n")
        return True

    def translated(self):
        with open(self.at + ".cpp") as file:
            text = file.read()
        text = text[text.index("namespace model_"):]
        return text[:text.index("typedef model_")]

    def compare(self):
        if not os.path.exists(self.at + ".theirs"):
            why = self.at + ".why"
            self.row["why"] = "rstan: " + (
                open(why).read().strip()[:300] if os.path.exists(why)
                else "not compiled")
            return
        value = slope = 0
        compared = 0
        with open(self.at + ".theirs") as file:
            theirs = [[float(x.replace("NA", "nan")) for x in line.split()]
                      for line in file]
        for (_, v, g), (w, *h) in zip(self.points, theirs):
            if not math.isfinite(w):
                continue
            compared += 1
            value = max(value, abs(v - w) / max(1, abs(w)))
            scale = max([1] + [abs(x) for x in h])
            slope = max([slope] + [abs(a - b) / scale for a, b in zip(g, h)])
        self.row.update(compared=compared, points=len(self.points),
                        value=value, gradient=slope)


# ---- theirs --------------------------------------------------------------------

def script(scratch, text, arguments):
    with open(os.path.join(scratch, "run.R"), "w") as file:
        file.write(text)
    return subprocess.run(["Rscript", "run.R"] + arguments, cwd=scratch,
                          capture_output=True, text=True, check=False)


def build(batch, scratch):
    """Compiled together; if that fails, one by one."""
    at = os.path.join(scratch, batch[0].name + "_all")
    choose = "\n".join('  if (n == "%s") return run<model_%s_namespace::'
                       'model_%s>(data, th);' % ((p.name,) * 3) for p in batch)
    with open(at + ".cpp", "w") as file:
        file.write(HEAD + "".join(p.translated() for p in batch)
                   + TAIL.replace("%s", choose))
    done = subprocess.run(["g++"] + FLAGS + [at + ".cpp", "-o", at + ".so"]
                          + LIBRARIES, capture_output=True, text=True,
                          check=False)
    if done.returncode == 0:
        for p in batch:  # one that crashes takes no other along
            script(scratch, COMPARE, [at + ".so", p.name])
    elif len(batch) > 1:
        for p in batch:
            build([p], scratch)
    else:
        batch[0].write(".why", done.stderr[-300:])


def beside(programs, scratch):
    script(scratch, STANC, [p.name for p in programs])
    there = [p for p in programs if os.path.exists(p.at + ".cpp")]
    if there:
        build(there, scratch)
    for p in programs:
        p.compare()


def differs(row):
    return row.get("compared") and max(row["value"], row["gradient"]) > 1e-6


def again_tight(p, scratch):
    with open(p.program.checked, errors="replace") as file:
        text = every.tightened(file.read())
    if not text:
        return
    p.program.write(text)
    before = dict(p.row)
    for end in (".cpp", ".theirs", ".why"):
        if os.path.exists(p.at + end):
            os.remove(p.at + end)
    if p.prepare():
        beside([p], scratch)
    p.row = dict(before, tight=p.row)


# ---- all of them ---------------------------------------------------------------

def summarise(rows):
    done = [r for r in rows if r.get("compared")]
    close = [r for r in done if not differs(r)]
    tight = [r for r in done if differs(r) and r.get("tight", {}).get(
        "compared") and not differs(r["tight"])]
    print("%d programs, %d compared: %d agree to 1e-6 (worst value %.1e, "
          "gradient %.1e), %d with tolerances of 1e-12" %
          (len(rows), len(done), len(close),
           max([r["value"] for r in close] + [0]),
           max([r["gradient"] for r in close] + [0]), len(tight)))
    for r in rows:
        if r not in close and r not in tight:
            print(json.dumps(r))


def main():
    if sys.argv[1:2] == ["--evaluate"]:
        return evaluate(*sys.argv[2:])
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("tempera")
    options.add_argument("folder")
    options.add_argument("-o", default=None)
    options.add_argument("--only", default="")
    options.add_argument("--batch", type=int, default=12)
    asked = options.parse_args()
    tempera, folder = os.path.abspath(asked.tempera), asked.folder
    os.environ["LD_LIBRARY_PATH"] = os.path.dirname(tempera)
    listed, rows = every.posteriordb(folder), []
    paths = sorted(os.path.join(d, f) for d, _, files in os.walk(folder)
                   for f in files if f.endswith(".stan"))
    paths = [p for p in paths if not asked.only or
             any(t in p for t in asked.only.split(","))]
    for first in range(0, len(paths), asked.batch):
        with tempfile.TemporaryDirectory() as scratch:
            programs = [Beside(tempera, p, listed, scratch,
                               os.path.relpath(p, folder), first + i)
                        for i, p in enumerate(paths[first:first
                                                    + asked.batch])]
            beside([p for p in programs if p.prepare()], scratch)
            for p in programs:
                if differs(p.row):
                    again_tight(p, scratch)
        rows += [p.row for p in programs]
        if asked.o:
            with open(asked.o, "a") as file:
                file.writelines(json.dumps(p.row) + "\n" for p in programs)
    summarise(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`found.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'found.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_kinds = resolve('kinds')
    l_0_m = resolve('m')
    l_0_sizes = resolve('sizes')
    l_0_resemblances = resolve('resemblances')
    l_0_spread = resolve('spread')
    l_0_compared = resolve('compared')
    l_0_sources = resolve('sources')
    l_0_clusters = resolve('clusters')
    pass
    if (undefined(name='kinds') if l_0_kinds is missing else l_0_kinds):
        pass
        yield '<section id="kinds">\n  <h2>What kind of duplicates</h2>\n  '
        yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'rows_with_bars'), 'Documents removed, by kind of duplicate', ['kind', 'documents', 'share'], (undefined(name='kinds') if l_0_kinds is missing else l_0_kinds)))
        yield '\n</section>\n'
    if ((undefined(name='sizes') if l_0_sizes is missing else l_0_sizes) or (undefined(name='resemblances') if l_0_resemblances is missing else l_0_resemblances)):
        pass
        yield '<div class="beside">\n'
        if (undefined(name='sizes') if l_0_sizes is missing else l_0_sizes):
            pass
            yield '<section id="sizes">\n  <h2>How large the clusters are</h2>\n  '
            yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'plot'), (undefined(name='sizes') if l_0_sizes is missing else l_0_sizes), markup_join(((undefined(name='spread') if l_0_spread is missing else l_0_spread), ' Each bar is a class of sizes that doubles.', ))))
            yield '\n</section>\n'
        if (undefined(name='resemblances') if l_0_resemblances is missing else l_0_resemblances):
            pass
            yield '<section id="resemblance">\n  <h2>How similar the removed documents are to the kept ones</h2>\n  '
            yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'plot'), (undefined(name='resemblances') if l_0_resemblances is missing else l_0_resemblances), (undefined(name='compared') if l_0_compared is missing else l_0_compared)))
            yield '\n</section>\n'
        yield '</div>\n'
    if (undefined(name='sources') if l_0_sources is missing else l_0_sources):
        pass
        yield '<section id="sources">\n  <h2>Where the removed documents come from</h2>\n  '
        yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'rows_with_bars'), 'Documents removed, by source, the most first', ['source', 'documents', 'removed', 'share', 'saved'], (undefined(name='sources') if l_0_sources is missing else l_0_sources)))
        yield '\n</section>\n'
    if (undefined(name='clusters') if l_0_clusters is missing else l_0_clusters):
        pass
        yield '<section id="clusters">\n  <h2>The largest clusters</h2>\n  <p class="lead">Each is named after its kept document, and shows the beginning of its text.</p>\n  <ol class="cards">\n'
        l_1_loop = missing
        for l_1_cluster, l_1_loop in LoopContext((undefined(name='clusters') if l_0_clusters is missing else l_0_clusters), undefined):
            _loop_vars = {}
            pass
            yield '    <li>\n    <article class="card'
            yield escape((' warned' if environment.getattr(l_1_cluster, 'warnings') else cond_expr_undefined("the inline if-expression on line 36 in 'found.html' evaluated to false and no else section was defined.")))
            yield '">\n      <header>\n        <h3><strong>'
            yield escape(environment.getattr(l_1_cluster, 'size'))
            yield '</strong> documents: <bdi>'
            yield escape(environment.getattr(l_1_cluster, 'cluster_id'))
            yield '</bdi></h3>\n'
            if environment.getattr(l_1_cluster, 'scores'):
                pass
                yield '<p class="contained">resemblance to the kept document: '
                l_2_loop = missing
                for (l_2_name, l_2_value), l_2_loop in LoopContext(environment.getattr(l_1_cluster, 'scores'), undefined):
                    _loop_vars = {}
                    pass
                    yield escape(l_2_name)
                    yield ' '
                    yield escape(l_2_value)
                    yield escape((', ' if (not environment.getattr(l_2_loop, 'last')) else cond_expr_undefined("the inline if-expression on line 39 in 'found.html' evaluated to false and no else section was defined.")))
                l_2_loop = l_2_name = l_2_value = missing
                yield '</p>'
            yield '      </header>\n'
            for l_2_warning in environment.getattr(l_1_cluster, 'warnings'):
                _loop_vars = {}
                pass
                yield '<p class="warning"><span aria-hidden="true">▲</span> '
                yield escape(l_2_warning)
                yield '</p>'
            l_2_warning = missing
            if environment.getattr(l_1_cluster, 'excerpt'):
                pass
                yield '<p class="excerpt" dir="auto">'
                yield escape(environment.getattr(l_1_cluster, 'excerpt'))
                yield '</p>'
            else:
                pass
                yield '<p class="note">No words to show.</p>'
            yield '    </article>\n    </li>\n'
        l_1_loop = l_1_cluster = missing
        yield '  </ol>\n</section>\n'

blocks = {}
debug_info = '1=19&4=22&7=24&9=27&12=30&15=32&18=35&23=38&26=41&29=43&34=47&36=51&38=53&39=57&41=71&42=78'

// A table that is wider than the page is scrolled: as long as more of it follows at the right, it has the class "more".

function mark(wrap) {
  wrap.classList.toggle("more", wrap.scrollWidth > wrap.clientWidth + Math.ceil(wrap.scrollLeft) + 1);
}

const sizes = new ResizeObserver((entries) => entries.forEach(({target}) => mark(target)));

function watch() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([data-watched])")) {
    wrap.dataset.watched = "";
    wrap.addEventListener("scroll", () => mark(wrap), {passive: true});
    sizes.observe(wrap);
  }
}

// The theme wraps the tables later.
new MutationObserver(watch).observe(document.body, {childList: true, subtree: true});
watch();

"""The addresses of the plugin."""

from django.urls import path

from .views import ReturnView, webhook

event_patterns = [
    path("coffer/return/<str:order>/<str:hash>/<int:attempt>/", ReturnView.as_view(), name="return"),
]

# One address for all events, as one Coffer may take the payments of several.
urlpatterns = [
    path("_coffer/webhook/", webhook, name="webhook"),
]
